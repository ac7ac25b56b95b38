/** Act is what a key of the trading page does. */
export type Act = 'search' | 'buy' | 'sell' | 'limit' | 'market' | 'stop' | 'send' | 'cancelAll' | 'help';

const KEYS: Record<string, Act> = {
  '/': 'search', b: 'buy', s: 'sell', l: 'limit', m: 'market', t: 'stop', X: 'cancelAll', '?': 'help',
};

/** keyed returns what a key does. In a field only Ctrl+Enter is one, and in a dialog none is. */
export function keyed(event: KeyboardEvent): Act | null {
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return null;
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) return 'send';
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return null;
  return KEYS[event.key] ?? null;
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['radio', 'checkbox'].includes(target.type);
  return target.isContentEditable || ['SELECT', 'TEXTAREA'].includes(target.tagName);
}
