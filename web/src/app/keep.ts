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
