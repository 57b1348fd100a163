import { applyEdits, findNodeAtLocation, getNodeValue, modify, type Node, parseTree } from 'jsonc-parser';
import { isJsonObject, type JsonEdit } from './json-edit.ts';

/**
 * A text of JSON with comments after one edit: what is not edited keeps every byte, and new lines look like the ones
 * that are there. Of a list only the items that differ are touched.
 */
export function editText(text: string, { path, value }: JsonEdit): string {
  const found = nodeAt(text, path);
  if (value === undefined) return found === undefined ? text : applyEdits(text, modify(text, [...path], value, {}));
  if (found === undefined) return withProperty(text, path, value);
  const old: unknown = getNodeValue(found);
  if (Array.isArray(old) && Array.isArray(value)) {
    const appended = listTail(old, value);
    if (appended !== undefined) return withItems(text, path, old, value, appended);
  }
  return replaced(text, found.offset, found.length, printed(value, text, indentAt(text, found.offset)));
}

/** What may stand behind a child on its line: a comma, and a comment. */
const REST_OF_LINE = /^(,?)([ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*\*\/[ \t]*)?)(?=\r?\n)/;

/** The node at a path. */
export function nodeAt(text: string, path: readonly (string | number)[]): Node | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  return tree && findNodeAtLocation(tree, [...path]);
}

function withProperty(text: string, path: readonly string[], value: unknown): string {
  let length = path.length - 1;
  while (nodeAt(text, path.slice(0, length)) === undefined) length -= 1;
  const [key = '', ...below] = path.slice(length);
  const whole = below.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const holder = nodeAt(text, path.slice(0, length));
  return holder === undefined ? text : withChild(text, holder, whole, `${JSON.stringify(key)}: `);
}

/** Which items come behind those that stay; `undefined` when the order changes and the list is written anew. */
function listTail(old: readonly unknown[], wanted: readonly unknown[]): readonly unknown[] | undefined {
  const stays = old.filter((item) => wanted.includes(item));
  return stays.every((item, at) => item === wanted[at]) ? wanted.slice(stays.length) : undefined;
}

function withItems(
  text: string,
  path: readonly string[],
  old: readonly unknown[],
  wanted: readonly unknown[],
  appended: readonly unknown[],
): string {
  const gone = [...old.keys()].filter((at) => !wanted.includes(old[at])).toReversed();
  const shorter = gone.reduce((now, at) => applyEdits(now, modify(now, [...path, at], undefined, {})), text);
  return appended.reduce<string>((now, item) => {
    const list = nodeAt(now, path);
    return list === undefined ? now : withChild(now, list, item, '');
  }, shorter);
}

/** One more child at the end of an object or a list. */
function withChild(text: string, holder: Node, value: unknown, label: string): string {
  const eol = eolOf(text);
  const last = holder.children?.at(-1);
  if (last !== undefined) {
    const end = last.offset + last.length;
    if (!isFirstOnLine(text, last.offset)) return replaced(text, end, 0, `, ${label}${onOneLine(value)}`);
    const indent = indentAt(text, last.offset);
    const child = `${eol}${indent}${label}${printed(value, text, indent)}`;
    // A comment on the line of the last child is about that child.
    const [rest = '', comma = '', comment] = REST_OF_LINE.exec(text.slice(end)) ?? [];
    if (comment === undefined) return replaced(text, end, 0, `,${child}`);
    return replaced(text, end, rest.length, `,${comment}${child}${comma}`);
  }
  const outer = indentAt(text, holder.offset);
  const indent = outer + unitOf(text);
  const child = `${eol}${indent}${label}${printed(value, text, indent)}`;
  const inside = text.slice(holder.offset + 1, holder.offset + holder.length - 1);
  // A comment in an empty object stays behind what comes in.
  if (inside.trim() !== '') return replaced(text, holder.offset + 1, 0, child);
  return replaced(text, holder.offset + 1, inside.length, `${child}${eol}${outer}`);
}

function printed(value: unknown, text: string, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', `${eolOf(text)}${indent}`);
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{ ${fields.map(([key, inner]) => `${JSON.stringify(key)}: ${onOneLine(inner)}`).join(', ')} }`;
}

function replaced(text: string, offset: number, length: number, by: string): string {
  return text.slice(0, offset) + by + text.slice(offset + length);
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function isFirstOnLine(text: string, offset: number): boolean {
  const start = lineStart(text, offset);
  return start > 0 && text.slice(start, offset).trim() === '';
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? '';
}

function unitOf(text: string): string {
  return /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
