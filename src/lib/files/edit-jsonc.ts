import { chmod, lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getNodeValue, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { writeAtomically } from './atomic-write.ts';
import { ifThere } from './errno.ts';
import { lockedFile } from './file-lock.ts';
import { isJsonObject, type Json, type JsonEdit, withEdit } from './json-edit.ts';
import { editText, nodeAt } from './jsonc-text.ts';
import { behindLinks, refuseLink, writePrivately } from './private-file.ts';
import { readRegular } from './read-regular.ts';

/** May the file be a link? Only where nobody else can have put it there. */
export type LinkHandling = 'follow' | 'refuse';

/**
 * Edits a file of JSON with comments as it stands at that moment, one process after the other; every other byte of it
 * stays. A file that cannot be edited with certainty throws a sentence with its line, and stays as it is.
 */
export async function editJsonc(
  file: string,
  edits: (whole: Json) => readonly JsonEdit[],
  links: LinkHandling,
): Promise<void> {
  if (links === 'refuse') await Promise.all([refuseLink(dirname(file)), refuseLink(file)]);
  const target = await behindLinks(file);
  await lockedFile(target, async () => {
    const before = (await readRegular(file)) ?? '';
    if (before.includes('\uFFFD')) throw refusal(file, 1, 'is not written in UTF-8');
    const mark = before.startsWith('\uFEFF') ? '\uFEFF' : '';
    const start = before.slice(mark.length).trim() === '' ? '{}\n' : before.slice(mark.length);
    const text = edits(objectIn(start, file)).reduce((now, edit) => edited(now, edit, file), start);
    if (text === start) return;
    if ((await ifThere(lstat(target))) === undefined) await writePrivately(file, text);
    // What was allowed, and the variables beside it, are nobody else's business.
    else await chmod(await writeAtomically(file, Buffer.from(mark + text)), 0o600);
  });
}

function edited(text: string, edit: JsonEdit, file: string): string {
  const whole = objectIn(text, file);
  refuseBlocked(text, edit, file);
  const wanted = JSON.stringify(withEdit(whole, edit));
  if (wanted === JSON.stringify(whole)) return text;
  const next = editText(text, edit);
  // A key that stands there twice, for one, would be changed where nobody reads it.
  if (JSON.stringify(objectIn(next, file)) !== wanted) {
    throw refusal(
      file,
      lineAt(text, nodeAt(text, edit.path)?.offset ?? 0),
      `cannot be changed at "${edit.path.join('.')}": it may stand there twice`,
    );
  }
  return next;
}

/** What the text says as a whole. */
function objectIn(text: string, file: string): Json {
  const errors: ParseError[] = [];
  const whole: unknown = treeOf(text, errors, file);
  const [broken] = errors;
  if (broken !== undefined) {
    const what = printParseErrorCode(broken.error)
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase();
    throw refusal(file, lineAt(text, broken.offset), `is not valid JSON (${what})`);
  }
  if (!isJsonObject(whole)) throw refusal(file, 1, 'is not one JSON object');
  return whole;
}

function treeOf(text: string, errors: ParseError[], file: string): unknown {
  try {
    const tree = parseTree(text, errors, { allowTrailingComma: true });
    return tree === undefined ? undefined : getNodeValue(tree);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw refusal(file, 1, 'is nested too deeply');
    throw thrown;
  }
}

/** A key below something that is no object has no place. */
function refuseBlocked(text: string, { path }: JsonEdit, file: string): void {
  for (let length = 1; length < path.length; length += 1) {
    const place = path.slice(0, length);
    const node = nodeAt(text, place);
    if (node === undefined || node.type === 'object') continue;
    throw refusal(file, lineAt(text, node.offset), `has a "${place.join('.')}" that is no object`);
  }
}

function refusal(file: string, line: number, what: string): Error {
  return new Error(`${file}:${line} ${what}. Mend it there and try again; nothing was changed.`);
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
