import { createHash } from 'node:crypto';

/** The API's limit for the name of a tool. */
const MAX_NAME_CHARS = 128;
const MAX_SERVER_CHARS = 48;

/**
 * Creates the allocation of server prefixes. Prefixes are unique, stay the same for a server, and never contain `__`,
 * so a tool of one server cannot take the name of another server's tool.
 */
export function createPrefixAllocator(): (server: string) => string {
  const taken = new Set<string>();
  const known = new Map<string, string>();
  return (server) => {
    const identifier = toIdentifier(server).replaceAll(/_+/g, '_').replaceAll(/^_|_$/g, '').slice(0, MAX_SERVER_CHARS);
    const prefix = known.get(server) ?? claimName(identifier === '' ? 'server' : identifier, taken, '-');
    known.set(server, prefix);
    return prefix;
  };
}

/** Returns the names the model sees for a server's tools or prompts, in the same order and without duplicates. */
export function assignMcpFullNames(prefix: string, names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => claimName(shorten(`mcp__${prefix}__${toIdentifier(name) || 'tool'}`, name), taken, '_'));
}

function toIdentifier(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_');
}

/** Shortens a name to the API's limit; a hash keeps long names with a common start apart. */
function shorten(full: string, original: string): string {
  if (full.length <= MAX_NAME_CHARS - 4) return full;
  const suffix = createHash('sha256').update(original).digest('hex').slice(0, 8);
  return `${full.slice(0, MAX_NAME_CHARS - 4 - suffix.length - 1)}_${suffix}`;
}

/** Takes a free name: the given one, or that with the next free number. */
function claimName(base: string, taken: Set<string>, separator: string): string {
  let name = base;
  for (let next = 2; taken.has(name); next += 1) name = `${base}${separator}${next}`;
  taken.add(name);
  return name;
}
