/** How deep a value from outside may be nested. Providers refuse what is much deeper, and recursion ends somewhere. */
export const MAX_DEPTH = 100;

/** Is the value nested deeper than this? Looks no further than the limit, so that no value is too deep to be asked about. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const parts = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => isDeeperThan(part, levels - 1));
}
