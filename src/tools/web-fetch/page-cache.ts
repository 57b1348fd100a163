/** A page that was read. */
export type Page = { readonly url: string; readonly status: number; readonly bytes: number; readonly text: string };

/** Pages read a short while ago, bounded in age and in size. */
export type PageCache = {
  find(url: string): Page | undefined;
  keep(url: string, page: Page): void;
};

export type CacheLimits = { readonly ageMs: number; readonly chars: number };

export function createPageCache(limits: CacheLimits, now: () => number): PageCache {
  const kept = new Map<string, { readonly page: Page; readonly at: number }>();

  function forgetOld(): void {
    for (const [url, { at }] of kept) if (now() - at >= limits.ageMs) kept.delete(url);
  }

  return {
    find(url) {
      forgetOld();
      return kept.get(url)?.page;
    },
    keep(url, page) {
      kept.delete(url);
      kept.set(url, { page, at: now() });
      let chars = [...kept.values()].reduce((sum, one) => sum + one.page.text.length, 0);
      for (const [oldest, one] of kept) {
        if (chars <= limits.chars) return;
        kept.delete(oldest);
        chars -= one.page.text.length;
      }
    },
  };
}
