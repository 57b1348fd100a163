import type { DiffHunk, DiffLine } from '../../../contracts/display.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contracts/json.ts';

/** Creates a diff from the input of an edit. Line numbers are unknown, because the file is not read. */
export function createInputDiff(input: JsonObject): readonly DiffHunk[] {
  if (Array.isArray(input.edits))
    return input.edits.flatMap((edit) => (isJsonObject(edit) ? createInputDiff(edit) : []));
  const before = toText(input.old_string);
  const after = toText(input.new_string) ?? toText(input.content) ?? toText(input.new_source);
  if (before === undefined && after === undefined) return [];
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  let head = 0;
  while (head < oldLines.length && head < newLines.length && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (
    tail < oldLines.length - head &&
    tail < newLines.length - head &&
    oldLines.at(-1 - tail) === newLines.at(-1 - tail)
  )
    tail += 1;
  const lines = [
    ...toDiffLines('same', oldLines.slice(0, head)),
    ...toDiffLines('del', oldLines.slice(head, oldLines.length - tail)),
    ...toDiffLines('add', newLines.slice(head, newLines.length - tail)),
    ...toDiffLines('same', oldLines.slice(oldLines.length - tail)),
  ];
  return [{ oldStart: 0, oldLines: 0, newStart: 0, newLines: 0, lines }];
}

function toDiffLines(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((line) => ({ kind, text: line }));
}

function splitLines(value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : value.replace(/\n$/, '').split('\n');
}

function toText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
