import type { DiffLine } from '../../contracts/display.ts';
import type { TextRange } from '../../lib/text/text-wrap.ts';

const WORDS = /[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu;

/**
 * What changed inside each line of a hunk, to be emphasised; undefined where a line is new, gone or rewritten as
 * a whole. Lines are compared when as many were taken out as were put in their place.
 */
export function changedWords(lines: readonly DiffLine[]): readonly (TextRange | undefined)[] {
  const changes: (TextRange | undefined)[] = lines.map(() => undefined);
  for (let at = 0; at < lines.length; ) {
    const removed = runLength(lines, at, 'del');
    const added = runLength(lines, at + removed, 'add');
    if (removed > 0 && removed === added) {
      for (let line = at; line < at + removed; line += 1) {
        const pair = changedParts(lines[line]?.text ?? '', lines[line + removed]?.text ?? '');
        changes[line] = pair?.before;
        changes[line + removed] = pair?.after;
      }
    }
    at += Math.max(1, removed + added);
  }
  return changes;
}

function runLength(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length += 1;
  return length;
}

/** The stretch between what two lines have in common at their start and at their end. */
function changedParts(before: string, after: string) {
  const [old, fresh] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail += 1;
  const start = old.slice(0, head).join('').length;
  const end = old.slice(old.length - tail).join('').length;
  // With nothing but white space in common it is another line.
  const common = before.slice(0, start) + (tail === 0 ? '' : before.slice(-end));
  if (common.trim() === '') return undefined;
  const keep = tail === 0 ? 0 : end;
  return { before: { from: start, to: before.length - keep }, after: { from: start, to: after.length - keep } };
}
