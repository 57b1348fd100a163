export type Dict = { readonly [key: string]: unknown };

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns whether all strings, keys and values, are well-formed Unicode. */
export function isWellFormed(value: unknown): boolean {
  if (isText(value)) return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  return !isDict(value) || Object.entries(value).every(([key, part]) => key.isWellFormed() && isWellFormed(part));
}
