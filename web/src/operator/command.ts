import { visible } from '../app/visible';
import type { Row } from './rows';

/**
 * commandOf writes the command line of a template, as `operator invite {email} [--name {name}]`. Values are in place of
 * {names}, quoted for a shell; a name without a value stands there itself, in capitals. A part in brackets is left out
 * where its value is missing.
 */
export function commandOf(template: string, values: Row): string {
  const parts = template.replace(/ \[([^\]]*)\]/g, (_, part: string) => (names(part).every((name) => wordsOf(values, name) !== '') ? ` ${part}` : ''));
  const words = parts.replace(/\{([a-z_]+)\}/g, (_, name: string) => wordsOf(values, name) || name.toUpperCase());
  return `bourse admin --data DIR ${words}`;
}

function names(part: string): string[] {
  return [...part.matchAll(/\{([a-z_]+)\}/g)].map((found) => found[1] ?? '');
}

/** wordsOf quotes a value; a list is a word for each of its own. */
function wordsOf(values: Row, name: string): string {
  const value = values[name] ?? '';
  return (Array.isArray(value) ? value : [value]).map((one) => word(visible(String(one)))).join(' ');
}

function word(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
