export type Dict = { readonly [key: string]: unknown };

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === 'string';

/** Whether no string in it, key or value, holds half a character. */
export function isWellFormed(value: unknown): boolean {
  if (isText(value)) return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  return !isDict(value) || Object.entries(value).every(([key, part]) => key.isWellFormed() && isWellFormed(part));
}
