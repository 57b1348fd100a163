import type { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { nearest } from '../lib/text/nearest.ts';
import { settingsSchema } from './keys.ts';

type Path = readonly (string | number)[];

/** What is wrong at one place of the file, as it was written. */
export type Complaint = {
  readonly path: Path;
  readonly words: string;
  /** Nobody here knows the key, and it is like none that is known. */
  readonly isUnknown?: true;
};

/** What can be used of a file, where each of its values stood in it, and what cannot be used. */
export type Usable = {
  readonly settings: Settings;
  readonly complaints: readonly Complaint[];
  /** The place in the file of a place in the settings. */
  readonly placeOf: (path: Path) => Path;
};

const MOST_ROUNDS = 50;

/** Leaves out what does not fit, innermost first, until the rest does; all else keeps its meaning. */
export function usablePart(value: unknown): Usable {
  const left = new Set<string>();
  const complaints: Complaint[] = [];
  const placeOf = (path: Path) => written(value, path, left);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const parsed = settingsSchema.safeParse(without(value, left, []));
    if (parsed.success) return { settings: parsed.data, complaints, placeOf };
    const found = parsed.error.issues.flatMap((issue) => complaintsOf(issue, placeOf));
    for (const complaint of found) {
      const { path } = complaint;
      const gone = nearestThere(value, path, left);
      // What was left out already and is missed now takes along what cannot be without it.
      if (!complaints.some((known) => isSame(known.path, path))) complaints.push(complaint);
      left.add(JSON.stringify(gone));
    }
  }
  const words = 'has more faults than can be told one by one. Nothing in it is used.';
  return { settings: {}, complaints: [...complaints, { path: [], words }], placeOf };
}

/** The hooks that stand outside of settings, in the head of a file or in a plugin; what does not fit is left out. */
export function usableHooks(hooks: JsonObject): {
  readonly hooks: NonNullable<Settings['hooks']>;
  readonly problems: readonly string[];
} {
  const { settings, complaints: all } = usablePart({ hooks });
  const complaints = all.filter(({ path }) => path.at(-1) !== 'description');
  return { hooks: settings.hooks ?? {}, problems: complaints.map(({ words }) => words) };
}

function complaintsOf(issue: z.core.$ZodIssue, placeOf: Usable['placeOf']): readonly Complaint[] {
  const path = placeOf(issue.path.filter((part) => typeof part !== 'symbol'));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const known = path.length === 0 ? nearest(key, Object.keys(settingsSchema.shape)) : undefined;
      const hint = known === undefined ? '' : ` Did you mean "${known}"?`;
      const words = `has an unknown key "${[...path, key].join('.')}".${hint}`;
      return { path: [...path, key], words, ...(known === undefined && isOpen(path, key) ? { isUnknown: true } : {}) };
    });
  }
  const name = path.length === 0 ? 'the file' : `"${path.join('.')}"`;
  return [{ path, words: `${name}: ${issue.message}. It is not used.` }];
}

/** Where other programs have keys of their own: at the top, and among the events of hooks; hooks are described, too. */
function isOpen(path: Path, key: string): boolean {
  return path.length === 0 || (path[0] === 'hooks' && (path.length === 1 || key === 'description'));
}

/** The place itself, or the innermost around it that still holds something. */
function nearestThere(value: unknown, path: Path, left: ReadonlySet<string>): Path {
  for (let length = path.length; length > 0; length -= 1) {
    const place = path.slice(0, length);
    if (at(value, place) !== undefined && !left.has(JSON.stringify(place))) return place;
  }
  return [];
}

function at(value: unknown, path: Path): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, part)) return undefined;
    current = Reflect.get(current, part);
  }
  return current;
}

function without(value: unknown, left: ReadonlySet<string>, place: Path): unknown {
  if (left.has(JSON.stringify(place))) return {};
  if (typeof value !== 'object' || value === null) return value;
  const isKept = (part: string | number) => !left.has(JSON.stringify([...place, part]));
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => (isKept(index) ? [without(item, left, [...place, index])] : []));
  }
  const kept = Object.entries(value).filter(([key]) => isKept(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, without(inner, left, [...place, key])]));
}

/** Items before it that were left out moved an item forward. */
function written(value: unknown, path: Path, left: ReadonlySet<string>): Path {
  const place: (string | number)[] = [];
  for (const part of path) {
    const list = at(value, place);
    const kept = Array.isArray(list)
      ? [...list.keys()].filter((index) => !left.has(JSON.stringify([...place, index])))
      : [];
    place.push(typeof part === 'number' ? (kept[part] ?? part) : part);
  }
  return place;
}

function isSame(one: Path, other: Path): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
