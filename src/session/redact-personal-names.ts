import type { JsonValue } from '../contracts/json.ts';
import { redactSecrets } from '../lib/text/redact-secrets.ts';

/** Personal names that are removed from bug reports. */
export type PersonalNames = { readonly home: string; readonly user: string };

const MAIL_ADDRESS = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g;

/** Removes secrets, mail addresses, the home folder and the user name from a text. Equal texts stay equal. */
function redactText(text: string, { home, user }: PersonalNames): string {
  let clean = redactSecrets(text).replaceAll(MAIL_ADDRESS, '[mail]');
  if (home.length > 1) clean = clean.replaceAll(home, '/home/user');
  // A short user name occurs inside too many ordinary words.
  return user.length > 3 ? clean.replaceAll(user, 'user') : clean;
}

/** Redacts every string in a JSON value, but not the keys. */
export function redactPersonalNames(value: JsonValue, names: PersonalNames): JsonValue {
  if (typeof value === 'string') return redactText(value, names);
  if (value === null || typeof value !== 'object') return value;
  if (isJsonArray(value)) return value.map((part) => redactPersonalNames(part, names));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      part === undefined ? [] : [[name, redactPersonalNames(part, names)]],
    ),
  );
}

function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
