import type { JsonObject } from '../../contracts/json.ts';

/** Moves the fixed beginning of a pattern that points elsewhere into `path`, where permissions look at it. */
export function splitPattern(input: JsonObject): JsonObject {
  const { pattern } = input;
  if (typeof pattern !== 'string' || !/^(\/|~\/|\.\.\/)/.test(pattern)) return input;
  if (pattern.startsWith('../') && input.path !== undefined) return input;
  const parts = pattern.split('/');
  const firstGlob = parts.findIndex((part) => /[*?[{]/.test(part));
  const split = firstGlob === -1 ? parts.length - 1 : firstGlob;
  return { ...input, path: parts.slice(0, split).join('/') || '/', pattern: parts.slice(split).join('/') };
}
