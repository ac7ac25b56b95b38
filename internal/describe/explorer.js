// The explorer's search. The page is whole without it. It reads no address and stores nothing.
'use strict';

const find = document.getElementById('find');
const found = document.getElementById('found');
const operations = [...document.querySelectorAll('.operation')].map((element) => ({
  element,
  text: element.textContent.toLowerCase(),
}));
const sections = [...document.querySelectorAll('section')];

function search() {
  const words = find.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
  let count = 0;
  for (const { element, text } of operations) {
    element.hidden = !words.every((word) => text.includes(word));
    if (!element.hidden) count++;
  }
  for (const section of sections) section.hidden = !section.querySelector('.operation:not([hidden])');
  found.value = words.length === 0 ? '' : `${count} of ${operations.length}`;
}

find.addEventListener('input', search);
find.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    find.value = '';
    search();
  }
  if (event.key !== 'Enter') return;
  const first = operations.find(({ element }) => !element.hidden)?.element;
  if (!first) return;
  event.preventDefault(); // else the same key would close it
  first.open = true;
  first.querySelector('summary').focus();
});

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === find || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  find.focus();
});

find.closest('.find').hidden = false;
search();
