import { chmod, lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { ignoreMissingFile } from '../errors.ts';
import { isJsonRecord, type JsonRecord } from '../json.ts';
import { getLineNumber } from '../text/lines.ts';
import { writeAtomically } from './atomic-write.ts';
import type { FileLocks } from './file-locks.ts';
import { applyJsonEdit, type JsonEdit } from './json-edit.ts';
import { rejectSymlink, resolveTrustedLinks, writePrivateFile } from './private-file.ts';
import { readRegularFile } from './read-regular-file.ts';

/** Treatment of a symlink as the file. Links are followed only where no other user can have placed them. */
export type SymlinkHandling = 'follow' | 'refuse';

/**
 * Edits a JSONC file under a lock and preserves every byte that is not edited. Throws an error with the line number,
 * and leaves the file unchanged, if it cannot be edited safely.
 */
export async function editJsonc(
  file: string,
  getEdits: (content: JsonRecord) => readonly JsonEdit[],
  { links, locks }: { readonly links: SymlinkHandling; readonly locks: FileLocks },
): Promise<void> {
  if (links === 'refuse') await Promise.all([rejectSymlink(dirname(file)), rejectSymlink(file)]);
  const target = await resolveTrustedLinks(file);
  await locks.run([target], async () => {
    const before = (await readRegularFile(file)) ?? '';
    if (before.includes('\uFFFD')) throw createEditError(file, 1, 'is not encoded in UTF-8');
    const bom = before.startsWith('\uFEFF') ? '\uFEFF' : '';
    const original = before.slice(bom.length).trim() === '' ? '{}\n' : before.slice(bom.length);
    const edits = getEdits(parseObject(original, file));
    const text = edits.reduce((current, edit) => applyEdit(current, edit, file), original);
    if (text === original) return;
    if ((await ignoreMissingFile(lstat(target))) === undefined) await writePrivateFile(file, text);
    // Permissions and environment variables of the user are private.
    else {
      const written = await writeAtomically(file, Buffer.from(bom + text), { expected: Buffer.from(before) });
      await chmod(written.path, 0o600);
    }
  });
}

function applyEdit(text: string, edit: JsonEdit, file: string): string {
  const content = parseObject(text, file);
  checkParents(text, edit, file);
  const expected = JSON.stringify(applyJsonEdit(content, edit));
  if (expected === JSON.stringify(content)) return text;
  const next = editJsoncText(text, edit);
  // Fails for a duplicate key, for example: the edit would change the occurrence that parsers ignore.
  if (JSON.stringify(parseObject(next, file)) !== expected) {
    throw createEditError(
      file,
      getLineNumber(text, findJsonNode(text, edit.path)?.offset ?? 0),
      `cannot be changed at "${edit.path.join('.')}": the key may be duplicated`,
    );
  }
  return next;
}

function parseObject(text: string, file: string): JsonRecord {
  const errors: ParseError[] = [];
  const content: unknown = parseTreeValue(text, errors, file);
  const [error] = errors;
  if (error !== undefined) {
    const reason = printParseErrorCode(error.error)
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase();
    throw createEditError(file, getLineNumber(text, error.offset), `is not valid JSON (${reason})`);
  }
  if (!isJsonRecord(content)) throw createEditError(file, 1, 'is not a JSON object');
  return content;
}

function parseTreeValue(text: string, errors: ParseError[], file: string): unknown {
  try {
    const tree = parseTree(text, errors, { allowTrailingComma: true });
    return tree === undefined ? undefined : getNodeValue(tree);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw createEditError(file, 1, 'is nested too deeply');
    throw thrown;
  }
}

/** Throws if a parent of the edited key exists and is not an object. */
function checkParents(text: string, { path }: JsonEdit, file: string): void {
  for (let length = 1; length < path.length; length += 1) {
    const parent = path.slice(0, length);
    const node = findJsonNode(text, parent);
    if (node === undefined || node.type === 'object') continue;
    throw createEditError(file, getLineNumber(text, node.offset), `has a "${parent.join('.')}" that is not an object`);
  }
}

function createEditError(file: string, line: number, problem: string): Error {
  return new Error(`${file}:${line} ${problem}. Correct it and try again; nothing was changed.`);
}

/** Applies an edit to JSONC text and preserves every byte, comment and array item that is not edited. */
function editJsoncText(text: string, { path, value }: JsonEdit): string {
  const node = findJsonNode(text, path);
  if (value === undefined) return node === undefined ? text : applyEdits(text, modify(text, [...path], value, {}));
  if (node === undefined) return insertProperty(text, path, value);
  const current: unknown = getNodeValue(node);
  if (Array.isArray(current) && Array.isArray(value)) {
    const appended = findAppendedItems(current, value);
    if (appended !== undefined) return updateItems(text, path, current, value, appended);
  }
  return replaceRange(text, node.offset, node.length, formatValue(value, text, indentAt(text, node.offset)));
}

/** The rest of a line after a child: an optional comma and a comment. */
const REST_OF_LINE = /^(,?)([ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*\*\/[ \t]*)?)(?=\r?\n)/;

/** Returns the syntax node at a path. */
function findJsonNode(text: string, path: readonly (string | number)[]): Node | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  return tree && findNodeAtLocation(tree, [...path]);
}

function insertProperty(text: string, path: readonly string[], value: unknown): string {
  let length = path.length - 1;
  while (findJsonNode(text, path.slice(0, length)) === undefined) length -= 1;
  const [key = '', ...missing] = path.slice(length);
  const nested = missing.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const parent = findJsonNode(text, path.slice(0, length));
  return parent === undefined ? text : appendChild(text, parent, nested, `${JSON.stringify(key)}: `);
}

/** Returns the items added at the end of an array; `undefined` if the order changes and the array must be rewritten. */
function findAppendedItems(current: readonly unknown[], wanted: readonly unknown[]): readonly unknown[] | undefined {
  const retained = current.filter((item) => wanted.includes(item));
  return retained.every((item, at) => item === wanted[at]) ? wanted.slice(retained.length) : undefined;
}

function updateItems(
  text: string,
  path: readonly string[],
  current: readonly unknown[],
  wanted: readonly unknown[],
  appended: readonly unknown[],
): string {
  const removed = [...current.keys()].filter((at) => !wanted.includes(current[at])).toReversed();
  const remaining = removed.reduce(
    (edited, at) => applyEdits(edited, modify(edited, [...path, at], undefined, {})),
    text,
  );
  return appended.reduce<string>((edited, item) => {
    const array = findJsonNode(edited, path);
    return array === undefined ? edited : appendChild(edited, array, item, '');
  }, remaining);
}

/** Appends a child to an object or array. */
function appendChild(text: string, parent: Node, value: unknown, label: string): string {
  const eol = detectEol(text);
  const last = parent.children?.at(-1);
  if (last !== undefined) {
    const end = last.offset + last.length;
    if (!isFirstOnLine(text, last.offset)) return replaceRange(text, end, 0, `, ${label}${formatOnOneLine(value)}`);
    const indent = indentAt(text, last.offset);
    const child = `${eol}${indent}${label}${formatValue(value, text, indent)}`;
    // A comment on the line of the last child belongs to that child.
    const [rest = '', comma = '', comment] = REST_OF_LINE.exec(text.slice(end)) ?? [];
    if (comment === undefined) return replaceRange(text, end, 0, `,${child}`);
    return replaceRange(text, end, rest.length, `,${comment}${child}${comma}`);
  }
  const outer = indentAt(text, parent.offset);
  const indent = outer + detectIndentUnit(text);
  const child = `${eol}${indent}${label}${formatValue(value, text, indent)}`;
  const inside = text.slice(parent.offset + 1, parent.offset + parent.length - 1);
  // A comment in an empty object stays after the new child.
  if (inside.trim() !== '') return replaceRange(text, parent.offset + 1, 0, child);
  return replaceRange(text, parent.offset + 1, inside.length, `${child}${eol}${outer}`);
}

function formatValue(value: unknown, text: string, indent: string): string {
  return JSON.stringify(value, null, detectIndentUnit(text)).replaceAll('\n', `${detectEol(text)}${indent}`);
}

function formatOnOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatOnOneLine).join(', ')}]`;
  if (!isJsonRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{ ${fields.map(([key, inner]) => `${JSON.stringify(key)}: ${formatOnOneLine(inner)}`).join(', ')} }`;
}

function replaceRange(text: string, offset: number, length: number, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length);
}

function findLineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function isFirstOnLine(text: string, offset: number): boolean {
  const start = findLineStart(text, offset);
  return start > 0 && text.slice(start, offset).trim() === '';
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(findLineStart(text, offset), offset))?.[0] ?? '';
}

function detectIndentUnit(text: string): string {
  return /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
}

function detectEol(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
