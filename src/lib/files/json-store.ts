import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getErrorPhrase } from '../errors.ts';
import { isJsonRecord, type JsonRecord } from '../json.ts';
import { runWithFileLock } from './file-lock.ts';
import { applyJsonEdit, type JsonEdit } from './json-edit.ts';
import { resolveTrustedLinks, writePrivateFile } from './private-file.ts';
import { readRegularFile } from './read-regular-file.ts';

/** The format of a JSON file. `parse` has the form of `safeParse` of a zod schema. */
export type JsonFileFormat<Value> = {
  /** Value of a missing file. */
  readonly empty: Value;
  /** Depth of the entries that are dropped one by one when invalid: 1 for `{ name: entry }`. */
  readonly entryDepth: number;
  readonly parse: (json: unknown) => Parsed<Value>;
};

type Parsed<Value> =
  | { readonly success: true; readonly data: Value }
  | {
      readonly success: false;
      readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] };
    };

/** The content of a JSON file, as far as it is valid. */
export type JsonFileContent<Value> = {
  /** Valid part of the content. */
  readonly value: Value;
  /** Description of the invalid part. */
  readonly problem?: string;
  /** Set for a file that cannot be read or was written by a newer version: it must not be changed. */
  readonly isRefused: boolean;
};

/** A JSON file that can be read and changed. */
export type JsonStore<Value> = {
  read(): Promise<JsonFileContent<Value>>;
  /**
   * Applies edits to the current content under a lock. A damaged file is first moved to the folder for damaged files,
   * and its valid entries are kept. Throws for a file that must not be changed. Returns a notice if a damaged file was
   * moved.
   */
  change(getEdits: (value: Value) => readonly JsonEdit[]): Promise<string | undefined>;
};

/** Newest format version that this program can read. */
const FORMAT_VERSION = 1;
/** Name of the subfolder for damaged files. Some of them contain keys. */
export const DAMAGED_FILES_FOLDER = 'set-aside';

type Content<Value> = JsonFileContent<Value> & {
  /** Root object without the invalid entries. */
  readonly json: JsonRecord;
};

/** Opens a small private JSON file that several processes read and change. */
export function openJsonStore<Value>(file: string, format: JsonFileFormat<Value>): JsonStore<Value> {
  return {
    async read() {
      const { json: _, ...reading } = await readContent(file, format);
      return reading;
    },
    change: async (getEdits) =>
      // The lock belongs to the real path, so that access through links shares it.
      runWithFileLock(await resolveTrustedLinks(file), async () => {
        const { value, json, problem, isRefused } = await readContent(file, format);
        if (isRefused) throw new Error(`${problem} The file was not changed.`);
        const edits = getEdits(value);
        if (edits.length === 0 && problem === undefined) return undefined;
        const next = edits.reduce(applyJsonEdit, json);
        const backup = problem === undefined ? undefined : await moveDamagedFile(file);
        await writePrivateFile(file, `${JSON.stringify(next, null, 2)}\n`);
        return backup === undefined ? undefined : `${problem} The original file was moved to ${backup}.`;
      }),
  };
}

async function readContent<Value>(
  file: string,
  { empty, entryDepth, parse }: JsonFileFormat<Value>,
): Promise<Content<Value>> {
  const emptyContent = { value: empty, json: {} };
  const damaged = (reason: string): Content<Value> => ({
    ...emptyContent,
    isRefused: false,
    problem: `${file} is damaged (${reason}), so its content is ignored.`,
  });
  let text: string | undefined;
  try {
    text = await readRegularFile(file);
  } catch (thrown) {
    return { ...emptyContent, isRefused: true, problem: `${file} cannot be read (${getErrorPhrase(thrown)}).` };
  }
  if (text === undefined) return { ...emptyContent, isRefused: false };
  const content = parseJson(text);
  if (!isJsonRecord(content)) return damaged(content === undefined ? 'it is not JSON' : 'it is not a JSON object');
  if (typeof content.v === 'number' && content.v > FORMAT_VERSION) {
    const problem = `${file} was written by a newer version of ouro (format ${content.v}), so it is ignored.`;
    return { ...emptyContent, isRefused: true, problem };
  }
  let json: JsonRecord = content;
  const invalid: string[] = [];
  while (true) {
    const parsed = parse(json);
    if (parsed.success) {
      const problem = `${file} is damaged, so these entries are ignored: ${invalid.join(', ')}.`;
      return { value: parsed.data, json, isRefused: false, ...(invalid.length === 0 ? {} : { problem }) };
    }
    const [issue] = parsed.error.issues;
    const path = findExistingPath(json, (issue?.path ?? []).map(String).slice(0, entryDepth));
    if (path.length === 0) return damaged('it has an invalid format');
    json = applyJsonEdit(json, { path, value: undefined });
    invalid.push(path.join(' '));
  }
}

/** Moves a file into the folder for damaged files, with the time in its name. Returns its new path. */
async function moveDamagedFile(file: string): Promise<string> {
  const folder = join(dirname(file), DAMAGED_FILES_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const backup = join(folder, `${basename(file)}.${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  await rename(file, backup);
  return backup;
}

/** Returns the longest prefix of a path that exists. */
function findExistingPath(json: JsonRecord, path: readonly string[]): readonly string[] {
  for (let length = path.length; length > 0; length -= 1) {
    const prefix = path.slice(0, length);
    const parent = prefix
      .slice(0, -1)
      .reduce<unknown>((value, key) => (isJsonRecord(value) ? value[key] : undefined), json);
    if (isJsonRecord(parent) && Object.hasOwn(parent, prefix.at(-1) ?? '')) return prefix;
  }
  return [];
}

function parseJson(text: string): unknown {
  try {
    // Some editors write a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}
