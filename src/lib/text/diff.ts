import { diffArrays, structuredPatch } from 'diff';
import { detectLineEnding, splitLines } from './lines.ts';

/** A hunk of a unified diff: every line starts with `+`, `-` or a space. */
export type TextDiffHunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
};

const CONTEXT_LINES = 3;
/** Limits the work, which grows with its square. A time limit would give other hunks on a machine under load. */
const MAX_EDITS = 800;

/** Computes the hunks between two texts, ignoring line endings. Equal lines at both ends are skipped cheaply. */
export function computeDiffHunks(before: string, after: string): readonly TextDiffHunk[] {
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shorter && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
  if (head === oldLines.length && head === newLines.length) return [];
  const skippedStart = Math.max(0, head - CONTEXT_LINES);
  const skippedEnd = Math.max(0, tail - CONTEXT_LINES);
  const oldPart = oldLines.slice(skippedStart, oldLines.length - skippedEnd);
  const newPart = newLines.slice(skippedStart, newLines.length - skippedEnd);
  const patch = structuredPatch('', '', joinLines(oldPart), joinLines(newPart), '', '', {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  const hunks = patch?.hunks ?? [createFullHunk(oldPart, newPart)];
  return hunks.map((hunk) => ({
    oldStart: hunk.oldStart + skippedStart,
    oldLines: hunk.oldLines,
    newStart: hunk.newStart + skippedStart,
    newLines: hunk.newLines,
    lines: hunk.lines,
  }));
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Replaces all lines in one hunk, for texts with more than `MAX_EDITS` edits. */
function createFullHunk(oldPart: readonly string[], newPart: readonly string[]): TextDiffHunk {
  const lines = [...oldPart.map((line) => `-${line}`), ...newPart.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: oldPart.length, newStart: 1, newLines: newPart.length, lines };
}

/** The position of a hunk in both texts; lines are counted from 1. */
type HunkPosition = Omit<TextDiffHunk, 'lines'>;

/** Returns the new text with the rejected hunks reverted. Lines outside of hunks keep their old line endings. */
export function revertHunks(
  before: string,
  after: string,
  hunks: readonly HunkPosition[],
  rejected: readonly number[],
): string {
  if (rejected.length === 0) return after;
  const [oldText, newText] = [splitKeepingLineEndings(before), splitKeepingLineEndings(after)];
  let at = 0;
  const parts = hunks.flatMap(({ oldStart, oldLines, newStart, newLines }, index) => {
    const unchanged = oldText.slice(at, oldStart - 1);
    at = oldStart - 1 + oldLines;
    const hunkLines = rejected.includes(index)
      ? oldText.slice(at - oldLines, at)
      : newText.slice(newStart - 1, newStart - 1 + newLines);
    return [...unchanged, ...hunkLines];
  });
  return [...parts, ...oldText.slice(at)].join('');
}

/** Splits a text into lines with their line endings: joined again they give the same text. */
function splitKeepingLineEndings(text: string): readonly string[] {
  return text.match(detectLineEnding(text) === '\r' ? /[^\r]*\r|[^\r]+/g : /[^\n]*\n|[^\n]+/g) ?? [];
}

/** An edit: the lines from `from` to `to` (exclusive) are replaced by `lines`. */
type Edit = { readonly from: number; readonly to: number; readonly lines: readonly string[] };

const TIMEOUT_MS = 1_000;

/** Merges two versions of a base by lines; `undefined` on a conflict or when diffing takes too long. */
export function mergeLinesThreeWay(base: string, left: string, right: string): string | undefined {
  const lines = splitKeepingEnds(base);
  const [leftEdits, rightEdits] = [computeEdits(lines, left), computeEdits(lines, right)];
  if (leftEdits === undefined || rightEdits === undefined) return undefined;
  const onlyRight = rightEdits.filter((edit) => !leftEdits.some((other) => isSameEdit(other, edit)));
  if (onlyRight.some((edit) => leftEdits.some((other) => isConflicting(other, edit)))) return undefined;
  const edits = [...leftEdits, ...onlyRight].toSorted((a, b) => a.from - b.from || a.to - b.to);
  const merged: string[] = [];
  let at = 0;
  for (const { from, to, lines: replacement } of edits) {
    merged.push(...lines.slice(at, from), ...replacement);
    at = to;
  }
  return [...merged, ...lines.slice(at)].join('');
}

/** Splits a text into lines with their newlines, so that a missing final newline is a difference too. */
function splitKeepingEnds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function computeEdits(base: string[], text: string): readonly Edit[] | undefined {
  const parts = diffArrays(base, splitKeepingEnds(text), { timeout: TIMEOUT_MS });
  const edits: Edit[] = [];
  let at = 0;
  let open: Edit | undefined;
  for (const { added, removed, value } of parts ?? []) {
    if (!added && !removed) {
      if (open !== undefined) edits.push(open);
      open = undefined;
      at += value.length;
      continue;
    }
    open ??= { from: at, to: at, lines: [] };
    if (removed) at += value.length;
    open = { from: open.from, to: at, lines: added ? [...open.lines, ...value] : open.lines };
  }
  if (open !== undefined) edits.push(open);
  return parts === undefined ? undefined : edits;
}

function isSameEdit(a: Edit, b: Edit): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join('') === b.lines.join('');
}

/** Edits that only touch do not conflict. Two insertions at the same position do: their order is unknown. */
function isConflicting(a: Edit, b: Edit): boolean {
  return (a.from < b.to && b.from < a.to) || (a.from === b.from && (a.from === a.to) === (b.from === b.to));
}
