/** A fetched page. */
export type Page = { readonly url: string; readonly status: number; readonly bytes: number; readonly text: string };

/** Cache of fetched pages, bounded in age and size. */
export type PageCache = {
  find(url: string): Page | undefined;
  store(url: string, page: Page): void;
};

/** Limits of a page cache. */
export type CacheLimits = { readonly ageMs: number; readonly chars: number };

/** Creates an empty page cache. */
export function createPageCache(limits: CacheLimits, now: () => number): PageCache {
  const entries = new Map<string, { readonly page: Page; readonly at: number }>();

  function removeExpired(): void {
    for (const [url, { at }] of entries) if (now() - at >= limits.ageMs) entries.delete(url);
  }

  return {
    find(url) {
      removeExpired();
      return entries.get(url)?.page;
    },
    store(url, page) {
      entries.delete(url);
      entries.set(url, { page, at: now() });
      let chars = [...entries.values()].reduce((sum, entry) => sum + entry.page.text.length, 0);
      for (const [oldest, entry] of entries) {
        if (chars <= limits.chars) return;
        entries.delete(oldest);
        chars -= entry.page.text.length;
      }
    },
  };
}
