import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { lockedFile } from './file-lock.ts';
import { isJsonObject, type Json, type JsonEdit, withEdit } from './json-edit.ts';
import { behindLinks, writePrivately } from './private-file.ts';
import { readRegular } from './read-regular.ts';

/** What a file must hold to be used. A zod schema's `safeParse` is such a `parse`. */
export type JsonFormat<Value> = {
  /** What a missing file says. */
  readonly empty: Value;
  /** How deep the entries stand that may be lost one by one: 1 for `{ name: entry }`. */
  readonly entryDepth: number;
  readonly parse: (json: unknown) => Parsed<Value>;
};

type Parsed<Value> =
  | { readonly success: true; readonly data: Value }
  | {
      readonly success: false;
      readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] };
    };

export type JsonReading<Value> = {
  /** What can be used of the file. */
  readonly value: Value;
  /** What cannot, in a sentence. */
  readonly problem?: string;
  /** A file that cannot be read, or that a newer version wrote, is left alone. */
  readonly isRefused: boolean;
};

export type JsonStore<Value> = {
  read(): Promise<JsonReading<Value>>;
  /**
   * Writes edits of what stands in the file at that moment, one process after the other. A damaged file is set aside
   * first and what can be used of it is kept; a file that is refused throws its sentence. Answers with a sentence when
   * something was set aside.
   */
  change(edits: (value: Value) => readonly JsonEdit[]): Promise<string | undefined>;
};

/** Files above this version of their format were written by a program that knows more than this one. */
const VERSION = 1;
/** Damaged files of a folder are kept in here; some of them hold keys. */
export const SET_ASIDE = 'set-aside';

type Content<Value> = JsonReading<Value> & {
  /** The object in the file without its damaged entries. */
  readonly json: Json;
};

/** A small private JSON file that several processes read and change. */
export function openJsonStore<Value>(file: string, format: JsonFormat<Value>): JsonStore<Value> {
  return {
    async read() {
      const { json: _, ...reading } = await contentOf(file, format);
      return reading;
    },
    change: async (edits) =>
      // The same lock for everybody, whatever links lead here.
      lockedFile(await behindLinks(file), async () => {
        const { value, json, problem, isRefused } = await contentOf(file, format);
        if (isRefused) throw new Error(`${problem} Nothing was written to it.`);
        const changes = edits(value);
        if (changes.length === 0 && problem === undefined) return undefined;
        const next = changes.reduce(withEdit, json);
        const kept = problem === undefined ? undefined : await setAside(file);
        await writePrivately(file, `${JSON.stringify(next, null, 2)}\n`);
        return kept === undefined ? undefined : `${problem} The file as it was is kept in ${kept}.`;
      }),
  };
}

async function contentOf<Value>(
  file: string,
  { empty, entryDepth, parse }: JsonFormat<Value>,
): Promise<Content<Value>> {
  const nothing = { value: empty, json: {} };
  const damaged = (why: string): Content<Value> => ({
    ...nothing,
    isRefused: false,
    problem: `${file} is damaged (${why}), so nothing in it counts.`,
  });
  let text: string | undefined;
  try {
    text = await readRegular(file);
  } catch (thrown) {
    return { ...nothing, isRefused: true, problem: `${file} cannot be read (${messageOf(thrown)}).` };
  }
  if (text === undefined) return { ...nothing, isRefused: false };
  const whole = parseJson(text);
  if (!isJsonObject(whole)) return damaged(whole === undefined ? 'it is not JSON' : 'it is not a JSON object');
  if (typeof whole.v === 'number' && whole.v > VERSION) {
    const problem = `${file} was written by a newer version of this program (format ${whole.v}), so it is not used here.`;
    return { ...nothing, isRefused: true, problem };
  }
  let json: Json = whole;
  const lost: string[] = [];
  while (true) {
    const parsed = parse(json);
    if (parsed.success) {
      const problem = `${file} is damaged, so these entries do not count: ${lost.join(', ')}.`;
      return { value: parsed.data, json, isRefused: false, ...(lost.length === 0 ? {} : { problem }) };
    }
    const [issue] = parsed.error.issues;
    const path = entryThere(json, (issue?.path ?? []).map(String).slice(0, entryDepth));
    if (path.length === 0) return damaged('it is not what was stored there');
    json = withEdit(json, { path, value: undefined });
    lost.push(path.join(' '));
  }
}

/** Moves a file into the folder for damaged ones, under the date; answers with where it is now. */
async function setAside(file: string): Promise<string> {
  const folder = join(dirname(file), SET_ASIDE);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = join(folder, `${basename(file)}.${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  await rename(file, kept);
  return kept;
}

/** The entry at a path, or the nearest around it that exists. */
function entryThere(json: Json, path: readonly string[]): readonly string[] {
  for (let length = path.length; length > 0; length -= 1) {
    const place = path.slice(0, length);
    const holder = place.slice(0, -1).reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), json);
    if (isJsonObject(holder) && Object.hasOwn(holder, place.at(-1) ?? '')) return place;
  }
  return [];
}

function parseJson(text: string): unknown {
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}
