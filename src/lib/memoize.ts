/** Returns a function that calls `create` on first use and returns the same value from then on. */
export function createLazy<Value>(create: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined;
  return () => {
    cached ??= { value: create() };
    return cached.value;
  };
}

const MAX_CACHED = 2_000;

/** Caches the results of a pure function by its argument. The cache is emptied when it is full. */
export function memoizeByKey<Value>(compute: (key: string) => Value): (key: string) => Value {
  const cache = new Map<string, { readonly value: Value }>();
  return (key) => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached.value;
    if (cache.size >= MAX_CACHED) cache.clear();
    const value = compute(key);
    cache.set(key, { value });
    return value;
  };
}

const TTL_MS = 60_000;

/** Caches the result of `load` for a minute. Concurrent callers share one call; a failed call is not cached. */
export function memoizeForMinute<Value>(load: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let cached: { readonly atMs: number; readonly result: Promise<Value> } | undefined;
  return () => {
    if (cached === undefined || now() - cached.atMs > TTL_MS) {
      const loading = { atMs: now(), result: load() };
      cached = loading;
      loading.result.catch(() => {
        if (cached === loading) cached = undefined;
      });
    }
    return cached.result;
  };
}
/** Returns a function that computes its result once for each object, for as long as the object is in use. */
export function memoizeByObject<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const known = values.get(key);
    if (known !== undefined) return known.value;
    const value = compute(key);
    values.set(key, { value });
    return value;
  };
}

/**
 * Returns a function that computes a value from others, and again only when one of those is another one; a list is the
 * same as long as its items are.
 */
export function createDerived<const Sources extends readonly unknown[], Value>(
  getSources: () => Sources,
  compute: (...sources: Sources) => Value,
): () => Value {
  let last: { readonly sources: Sources; readonly value: Value } | undefined;
  return () => {
    const sources = getSources();
    if (last === undefined || !areSame(sources, last.sources)) last = { sources, value: compute(...sources) };
    return last.value;
  };
}

/** Returns whether two lists have the same items; items that are lists are compared in the same way. */
export function areSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (const [index, item] of left.entries()) {
    const other = right[index];
    if (item === other) continue;
    if (!Array.isArray(item) || !Array.isArray(other) || !areSame(item, other)) return false;
  }
  return true;
}
