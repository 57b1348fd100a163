import type { JsonValue } from '../../contracts/json.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';

/** What nobody who reads a bug report needs to know about its writer. */
export type Private = { readonly home: string; readonly user: string };

const MAIL = /\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g;

/** The same text without secrets, addresses and the name of the home folder. Equal texts stay equal. */
function redactText(text: string, { home, user }: Private): string {
  let clean = withoutSecrets(text).replaceAll(MAIL, '[mail]');
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
