import type { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import { settingsSchema } from '../contracts/setting-keys.ts';
import type { Settings } from '../contracts/settings.ts';
import { findClosestWord } from '../lib/text/closest-word.ts';

type Path = readonly (string | number)[];

/** A problem at one path of the file. */
export type SettingsIssue = {
  readonly path: Path;
  readonly message: string;
  /** The key is unknown and resembles no known key. */
  readonly isUnknown?: true;
};

/** The valid part of a settings value, and the problems with the rest. */
export type ValidatedSettings = {
  readonly settings: Settings;
  readonly issues: readonly SettingsIssue[];
  /** Converts a path in the settings into the path in the file. */
  readonly getOriginalPath: (path: Path) => Path;
};

const MAX_ROUNDS = 50;

/** Validates settings by removing invalid parts, innermost first, until the rest is valid. */
export function dropInvalidSettings(value: unknown): ValidatedSettings {
  const removed = new Set<string>();
  const issues: SettingsIssue[] = [];
  const getOriginalPath = (path: Path) => toOriginalPath(value, path, removed);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const parsed = settingsSchema.safeParse(removePaths(value, removed, []));
    if (parsed.success) return { settings: parsed.data, issues, getOriginalPath };
    const found = parsed.error.issues.flatMap((issue) => createIssues(issue, getOriginalPath));
    for (const issue of found) {
      const { path } = issue;
      // If the part is missing or already removed, its nearest existing parent is removed instead.
      const removedPath = findExistingPath(value, path, removed);
      if (!issues.some((known) => isSame(known.path, path))) issues.push(issue);
      removed.add(JSON.stringify(removedPath));
    }
  }
  const message = 'has too many problems to list. The file is ignored.';
  return { settings: {}, issues: [...issues, { path: [], message }], getOriginalPath };
}

/** Validates hooks defined outside settings, in front matter or a plugin, by removing invalid parts. */
export function validateHooks(hooks: JsonObject): {
  readonly hooks: NonNullable<Settings['hooks']>;
  readonly problems: readonly string[];
} {
  const { settings, issues: all } = dropInvalidSettings({ hooks });
  const issues = all.filter(({ path }) => path.at(-1) !== 'description');
  return { hooks: settings.hooks ?? {}, problems: issues.map(({ message }) => message) };
}

function createIssues(
  issue: z.core.$ZodIssue,
  getOriginalPath: ValidatedSettings['getOriginalPath'],
): readonly SettingsIssue[] {
  const path = getOriginalPath(issue.path.filter((part) => typeof part !== 'symbol'));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key): SettingsIssue => {
      const known = path.length === 0 ? findClosestWord(key, Object.keys(settingsSchema.shape)) : undefined;
      const hint = known === undefined ? '' : ` Did you mean "${known}"?`;
      const message = `has an unknown key "${[...path, key].join('.')}".${hint}`;
      return {
        path: [...path, key],
        message,
        ...(known === undefined && allowsForeignKeys(path, key) ? { isUnknown: true } : {}),
      };
    });
  }
  const name = path.length === 0 ? 'the file' : `"${path.join('.')}"`;
  return [{ path, message: `${name}: ${issue.message}. It is ignored.` }];
}

/** Returns whether other programs may have keys here: at the top level, among hook events, and as descriptions. */
function allowsForeignKeys(path: Path, key: string): boolean {
  return path.length === 0 || (path[0] === 'hooks' && (path.length === 1 || key === 'description'));
}

/** Returns the path itself, or its innermost parent that still exists. */
function findExistingPath(value: unknown, path: Path, removed: ReadonlySet<string>): Path {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = path.slice(0, length);
    if (getAt(value, parent) !== undefined && !removed.has(JSON.stringify(parent))) return parent;
  }
  return [];
}

function getAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, part)) return undefined;
    current = Reflect.get(current, part);
  }
  return current;
}

function removePaths(value: unknown, removed: ReadonlySet<string>, path: Path): unknown {
  if (removed.has(JSON.stringify(path))) return {};
  if (typeof value !== 'object' || value === null) return value;
  const isKept = (part: string | number) => !removed.has(JSON.stringify([...path, part]));
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => (isKept(index) ? [removePaths(item, removed, [...path, index])] : []));
  }
  const kept = Object.entries(value).filter(([key]) => isKept(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, removePaths(inner, removed, [...path, key])]));
}

/** Converts a path back to the original value: removed list items have shifted the indexes of later ones. */
function toOriginalPath(value: unknown, path: Path, removed: ReadonlySet<string>): Path {
  const original: (string | number)[] = [];
  for (const part of path) {
    const list = getAt(value, original);
    const kept = Array.isArray(list)
      ? [...list.keys()].filter((index) => !removed.has(JSON.stringify([...original, index])))
      : [];
    original.push(typeof part === 'number' ? (kept[part] ?? part) : part);
  }
  return original;
}

function isSame(one: Path, other: Path): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
