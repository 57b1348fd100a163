/** The keys that this process uses, so that they can be removed from what it stores. */
export type KnownKeys = {
  /** Adds a key under the name that replaces it: a variable or a provider. */
  add(name: string, key: string): void;
  /** Replaces the known keys in a text, also where they stand in JSON. */
  remove(text: string): string;
};

/** Shorter values occur in texts by chance. */
const MIN_CHARS = 16;
/** An address without a password, such as that of a queue. */
const PUBLIC_ADDRESS = /^\w+:\/\/(?![^/\s]*@)/;

/** Creates an empty set of known keys. Unlike patterns it finds keys by their value, whatever their form. */
export function createKnownKeys(): KnownKeys {
  const names = new Map<string, string>();
  /** Longest first, because one may contain another. */
  let encodings: readonly string[] = [];
  return {
    add(name, given) {
      const key = given.trim();
      if (key.length < MIN_CHARS || PUBLIC_ADDRESS.test(key) || names.has(key)) return;
      // A file with JSON is quoted once more in a record.
      for (const text of [key, escapeForJson(key), escapeForJson(escapeForJson(key))]) names.set(text, name);
      encodings = [...names.keys()].sort((a, b) => b.length - a.length);
    },
    remove: (text) =>
      encodings.reduce(
        (rest, key) => (rest.includes(key) ? rest.replaceAll(key, () => `[key of ${names.get(key)} left out]`) : rest),
        text,
      ),
  };
}

const escapeForJson = (text: string) => JSON.stringify(text).slice(1, -1);
