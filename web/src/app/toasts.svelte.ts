export interface Toast {
  id: number;
  kind: 'good' | 'bad' | 'plain';
  /** text is one of the catalogue's; said is people's or the exchange's own text, shown as it is. */
  text: string;
  said: string;
}

/** toasts are announced politely, and go away by themselves or by their button. */
export const toasts: Toast[] = $state([]);

let last = 0;

/** notify shows a notice for eight seconds. */
export function notify(text: string, kind: Toast['kind'] = 'plain', said = ''): void {
  last++;
  const id = last;
  toasts.push({ id, kind, text, said });
  if (toasts.length > 4) toasts.shift();
  setTimeout(() => dismiss(id), 8_000);
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((toast) => toast.id === id);
  if (at >= 0) toasts.splice(at, 1);
}
