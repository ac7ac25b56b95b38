/** recall reads what keep wrote; a browser that refuses storage, or holds something else there, yields the fallback. */
export function recall<T>(storage: 'localStorage' | 'sessionStorage', name: string, fallback: T): T {
  try {
    const text = globalThis[storage].getItem(`bourse.${name}`);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** keep stores a value until it is changed; where a browser refuses storage it lasts as long as the page. Never a secret. */
export function keep(storage: 'localStorage' | 'sessionStorage', name: string, value: unknown): void {
  try {
    globalThis[storage].setItem(`bourse.${name}`, JSON.stringify(value));
  } catch {
    return;
  }
}

/**
 * keepList makes the changes from one list to the next in the list that the browser stores, and answers what it stores then.
 * What other tabs have added or removed since this one read the list stays so.
 */
export function keepList<T>(name: string, before: readonly T[], after: readonly T[]): T[] {
  const byText = (list: readonly T[]): Map<string, T> => new Map(list.map((one) => [JSON.stringify(one), one]));
  const stored = recall<unknown>('localStorage', name, before);
  const [had, has, there] = [byText(before), byText(after), byText(Array.isArray(stored) ? (stored as T[]) : before)];
  for (const key of had.keys()) if (!has.has(key)) there.delete(key);
  for (const [key, one] of has) if (!had.has(key)) there.set(key, one);

  const list = [...there.values()];
  keep('localStorage', name, list);
  return list;
}

/** forget removes what keep wrote under names that begin so. */
export function forget(storage: 'localStorage' | 'sessionStorage', prefix: string): void {
  try {
    for (const name of Object.keys(globalThis[storage])) {
      if (name.startsWith(`bourse.${prefix}`)) globalThis[storage].removeItem(name);
    }
  } catch {
    return;
  }
}
