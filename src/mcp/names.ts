import { createHash } from 'node:crypto';

/** What the API takes as a tool's name. */
const LONGEST = 128;
const LONGEST_SERVER = 48;

/**
 * Gives each server a prefix and remembers it: no two are the same, and none holds `__`,
 * so that no tool of one server can take the name of another's.
 */
export function createPrefixes(): (server: string) => string {
  const taken = new Set<string>();
  const known = new Map<string, string>();
  return (server) => {
    const plain = plainName(server).replaceAll(/_+/g, '_').replaceAll(/^_|_$/g, '').slice(0, LONGEST_SERVER);
    const prefix = known.get(server) ?? claim(plain === '' ? 'server' : plain, taken, '-');
    known.set(server, prefix);
    return prefix;
  };
}

/** The names the model sees for a server's tools or prompts, in the order given; each is used once. */
export function fullNames(prefix: string, names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => claim(shortened(`mcp__${prefix}__${plainName(name) || 'tool'}`, name), taken, '_'));
}

function plainName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_');
}

/** Two long names that begin alike stay two names. */
function shortened(full: string, original: string): string {
  if (full.length <= LONGEST - 4) return full;
  const mark = createHash('sha256').update(original).digest('hex').slice(0, 8);
  return `${full.slice(0, LONGEST - 4 - mark.length - 1)}_${mark}`;
}

function claim(wanted: string, taken: Set<string>, joint: string): string {
  let name = wanted;
  for (let next = 2; taken.has(name); next += 1) name = `${wanted}${joint}${next}`;
  taken.add(name);
  return name;
}
