import { structuredPatch } from 'diff';
import { splitLines } from './lines.ts';

/** A hunk as hosts read it: every line led by `+`, `-` or a space. */
export type PatchHunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
};

const CONTEXT = 3;
/** Work goes with the square of it. Were it a time, a machine under load would show another change. */
const MOST_EDITS = 800;

/** What changed between two texts, line endings aside. Equal beginnings and ends cost nothing, however long. */
export function diffHunks(before: string, after: string): readonly PatchHunk[] {
  const old = splitLines(before);
  const now = splitLines(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  if (head === old.length && head === now.length) return [];
  const skipped = Math.max(0, head - CONTEXT);
  const left = Math.max(0, tail - CONTEXT);
  const oldPart = old.slice(skipped, old.length - left);
  const newPart = now.slice(skipped, now.length - left);
  const patch = structuredPatch('', '', joined(oldPart), joined(newPart), '', '', {
    context: CONTEXT,
    maxEditLength: MOST_EDITS,
  });
  const hunks = patch?.hunks ?? [replaced(oldPart, newPart)];
  return hunks.map((hunk) => ({
    oldStart: hunk.oldStart + skipped,
    oldLines: hunk.oldLines,
    newStart: hunk.newStart + skipped,
    newLines: hunk.newLines,
    lines: hunk.lines,
  }));
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Too much changed to find out how: all of it. */
function replaced(old: readonly string[], now: readonly string[]): PatchHunk {
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines };
}
