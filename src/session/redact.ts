import type { JsonValue } from '../contracts/json.ts';

/** What nobody who reads a bug report needs to know about its writer. */
export type Private = { readonly home: string; readonly user: string };

/** Keys and tokens by their shape, or by the name they stand under. */
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AIza|npm_|hf_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=\bBearer )[A-Za-z0-9._~+/=-]{8,}/g,
  /(?<=:\/\/[^\s/:@]{1,100}:)[^\s/@]{3,}(?=@)/g,
  /(?<=\b[\w-]{0,40}(?:password|passwd|secret|token|api[_-]?key)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;]{6,}/gi,
];
const MAIL = /\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g;

/** The same text without secrets, addresses and the name of the home folder. Equal texts stay equal. */
export function redactText(text: string, { home, user }: Private): string {
  let clean = text;
  for (const secret of SECRETS) clean = clean.replaceAll(secret, '[secret]');
  clean = clean.replaceAll(MAIL, '[mail]');
  if (home.length > 1) clean = clean.replaceAll(home, '/home/user');
  // A short name is a part of too many words.
  return user.length > 3 ? clean.replaceAll(user, 'user') : clean;
}

/** Every text in a value, names of fields apart. */
export function redactJson(value: JsonValue, who: Private): JsonValue {
  if (typeof value === 'string') return redactText(value, who);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((part) => redactJson(part, who));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) => (part === undefined ? [] : [[name, redactJson(part, who)]])),
  );
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
