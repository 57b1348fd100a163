/** A fetched page. */
export type WebPage = { readonly url: string; readonly status: number; readonly bytes: number; readonly text: string };

/** Limits of a page cache. */
export type PageCacheLimits = { readonly ageMs: number; readonly chars: number };

/** Creates an empty page cache, bounded in age and size. */
export function createWebPageCache(limits: PageCacheLimits, now: () => number) {
  const entries = new Map<string, { readonly page: WebPage; readonly at: number }>();

  function removeExpired(): void {
    for (const [url, { at }] of entries) if (now() - at >= limits.ageMs) entries.delete(url);
  }

  return {
    find(url: string): WebPage | undefined {
      removeExpired();
      return entries.get(url)?.page;
    },
    store(url: string, page: WebPage) {
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
