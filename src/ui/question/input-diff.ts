import type { DiffHunk, DiffLine } from '../../contracts/display.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';

/** What an edit would change, as far as its input tells; where in the file it stands is not known here. */
export function inputDiff(input: JsonObject): readonly DiffHunk[] {
  if (Array.isArray(input.edits)) return input.edits.flatMap((edit) => (isJsonObject(edit) ? inputDiff(edit) : []));
  const before = text(input.old_string);
  const after = text(input.new_string) ?? text(input.content) ?? text(input.new_source);
  if (before === undefined && after === undefined) return [];
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const lines = [
    ...as('same', old.slice(0, head)),
    ...as('del', old.slice(head, old.length - tail)),
    ...as('add', now.slice(head, now.length - tail)),
    ...as('same', old.slice(old.length - tail)),
  ];
  return [{ oldStart: 0, oldLines: 0, newStart: 0, newLines: 0, lines }];
}

function as(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((line) => ({ kind, text: line }));
}

function linesOf(value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : value.replace(/\n$/, '').split('\n');
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
