import { keep, recall } from './keep';

/** Fields are what a form holds: texts and ticks. */
type Fields<T> = { [K in keyof T]: T[K] extends boolean ? boolean : string };

/**
 * draft answers a state of texts and ticks that outlives a reload of the tab: what was typed is there again. It must be
 * called while a component starts. Passwords, codes and keys have no place in it.
 */
export function draft<T extends Record<string, string | boolean>>(name: string, initial: T): Fields<T> {
  const fields = $state({ ...initial, ...same(initial, recall<unknown>('sessionStorage', `draft.${name}`, {})) });
  $effect(() => {
    keep('sessionStorage', `draft.${name}`, fields);
  });

  return fields as Fields<T>;
}

/** same keeps the stored fields whose names and kinds the form still has. */
function same<T extends Record<string, string | boolean>>(initial: T, stored: unknown): Partial<T> {
  const kept: Record<string, string | boolean> = {};
  if (typeof stored !== 'object' || stored === null) return {};
  for (const [name, value] of Object.entries(stored)) {
    if (name in initial && typeof value === typeof initial[name]) kept[name] = value as string | boolean;
  }

  return kept as Partial<T>;
}
