/**
 * The library that runs programs, also where sets cannot be joined yet: all it needs of a Node newer than 20 is
 * `Set.prototype.union`, once, while it loads. It has that for so long, and then the runtime is again what it was.
 */
export async function loadExeca(): Promise<typeof import('execa')> {
  if ('union' in Set.prototype) return await import('execa');
  Object.defineProperty(Set.prototype, 'union', { value: union, configurable: true, writable: true });
  try {
    return await import('execa');
  } finally {
    Reflect.deleteProperty(Set.prototype, 'union');
  }
}

function union<T>(this: ReadonlySet<T>, other: ReadonlySet<T>): Set<T> {
  return new Set([...this, ...other]);
}
