import type { CertainReading, ShellPart, Standing } from '../shell-part.ts';

const MAX_FOLDERS = 8;
export const MAX_PARTS = 400;
const TOO_MANY = 'It holds more commands than are looked at.';

/** What a piece of script holds, and the folders it ends in, by whether it succeeded. */
export type Outcome = CertainReading & { readonly ok: readonly string[]; readonly failed: readonly string[] };

/** One after the other, whether those before succeeded or not. */
export function inTurn<Item>(
  items: readonly Item[],
  at: Standing,
  read: (item: Item, from: Standing) => Outcome,
): Outcome {
  const parts: ShellPart[] = [];
  const problems: string[] = [];
  let last: Pick<Outcome, 'ok' | 'failed'> = { ok: at.cwds, failed: [] };
  for (const item of items) {
    if (at.before + parts.length > MAX_PARTS) {
      problems.push(TOO_MANY);
      break;
    }
    const ends = union(last.ok, last.failed);
    const ran = read(item, { ...at, cwds: ends.folders, before: at.before + parts.length });
    parts.push(...ran.parts);
    problems.push(...ends.problems, ...ran.problems);
    last = ran;
  }
  return { parts, problems, ok: last.ok, failed: last.failed };
}

/** Nothing that could be read, and why. */
export function nothing({ cwds }: Standing, ...problems: readonly string[]): Outcome {
  return { parts: [], problems, ok: cwds, failed: cwds };
}

export function withProblems<Reading extends CertainReading>(reading: Reading, more: readonly string[]): Reading {
  return more.length === 0 ? reading : { ...reading, problems: [...reading.problems, ...more] };
}

/** Both, with the folders of the first. */
export function joined(left: Outcome, right: CertainReading): Outcome {
  const isFull = left.parts.length > MAX_PARTS;
  // The same is not said for each of thousands.
  const problems = new Set([...left.problems, ...right.problems, ...(isFull ? [TOO_MANY] : [])]);
  return { ...left, parts: isFull ? left.parts : [...left.parts, ...right.parts], problems: [...problems] };
}

/** The same place behind what was read, in other folders. */
export function behind(at: Standing, read: CertainReading, cwds: readonly string[] = at.cwds): Standing {
  return { ...at, cwds, before: at.before + read.parts.length };
}

export function union(
  left: readonly string[],
  right: readonly string[],
): { readonly folders: readonly string[]; readonly problems: readonly string[] } {
  const all = [...new Set([...left, ...right])];
  const problems = all.length > MAX_FOLDERS ? ['It changes folders in too many ways.'] : [];
  return { folders: all.slice(0, MAX_FOLDERS), problems };
}
