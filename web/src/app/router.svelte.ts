/** place is where the page stands: the path and the query of the address. */
export const place = $state({ path: location.pathname, query: location.search });

/** go leads to a page of ours; the address bar, back and forward follow. */
export function go(target: string, options: { replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(null, '', target);
  else history.pushState(null, '', target);
  arrive();
  scrollTo(0, 0);
}

/** query answers one parameter of the address, or an empty text. */
export function query(name: string): string {
  return new URLSearchParams(place.query).get(name) ?? '';
}

/** setQuery changes parameters of the address without a step in the history; empty ones are left out. */
export function setQuery(values: Record<string, string>): void {
  const parameters = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') parameters.delete(name);
    else parameters.set(name, value);
  }

  const text = parameters.toString();
  history.replaceState(null, '', location.pathname + (text === '' ? '' : `?${text}`));
  arrive();
}

/** listen makes links to our own pages step without a reload. It is called once. */
export function listen(): void {
  addEventListener('popstate', arrive);
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;

    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (!link.hasAttribute('data-page')) return;

    event.preventDefault();
    go(link.pathname + link.search);
  });
}

function arrive(): void {
  place.path = location.pathname;
  place.query = location.search;
}
