import type { LineEnding } from '../../lib/text/lines.ts';

const MAX_CELLS = 1_000_000;

/** The new text with line endings: a line that was there before keeps its own, a new one gets its neighbour's. */
export function dressLines(
  before: string,
  after: string,
  endings: readonly LineEnding[],
  fallback: LineEnding,
): string {
  const first = endings[0] ?? fallback;
  if (endings.every((ending) => ending === first)) return after.replaceAll('\n', first);
  const old = before.split('\n');
  const now = after.split('\n');
  const origin = commonLines(old, now);
  let last: LineEnding = first;
  return now
    .map((line, index) => {
      if (index === now.length - 1) return line;
      const kept = origin[index];
      last = (kept === undefined ? undefined : endings[kept]) ?? last;
      return line + last;
    })
    .join('');
}

/** For every new line the old line it is, by the longest common sequence. */
function commonLines(old: readonly string[], now: readonly string[]): readonly (number | undefined)[] {
  const origin: (number | undefined)[] = now.map(() => undefined);
  if (old.length * now.length > MAX_CELLS) return origin.map((_, index) => index);
  const width = now.length + 1;
  const best = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => best[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const same = old[row] === now[column];
      best[row * width + column] = same
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  let row = 0;
  let column = 0;
  while (row < old.length && column < now.length) {
    if (old[row] === now[column]) {
      origin[column] = row;
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return origin;
}
