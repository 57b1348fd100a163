import type { DiffHunk, DiffLine, Display } from '../../contracts/display.ts';
import type { JsonValue } from '../../contracts/json.ts';

/** A change of a file, for display and for hosts. */
export type FileDiff = {
  readonly display: Display;
  readonly structuredPatch: JsonValue;
  readonly added: number;
  readonly removed: number;
};

// Hosts get no copy of a larger old text, which would bloat the session record.
const MAX_ORIGINAL_CHARS = 512 * 1024;

/** Computes the diff between the old and new text of a file. */
export async function diffFile(file: string, before: string | undefined, after: string): Promise<FileDiff> {
  // Loaded with the first change, not at startup.
  const { computeDiffHunks } = await import('../../lib/text/diff.ts');
  const patch = computeDiffHunks(before ?? '', after);
  const hunks = patch.map((hunk): DiffHunk => ({ ...hunk, lines: hunk.lines.map(toDiffLine) }));
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const added = lines.filter((line) => line.kind === 'add').length;
  const removed = lines.filter((line) => line.kind === 'del').length;
  return {
    display: { kind: 'diff', path: file, created: before === undefined, hunks, added, removed },
    structuredPatch: patch,
    added,
    removed,
  };
}

/** Returns the old text for hosts; `null` for new files and very large texts. */
export function getOldTextForHosts(text: string | undefined): string | null {
  return text === undefined || text.length > MAX_ORIGINAL_CHARS ? null : text;
}

function toDiffLine(line: string): DiffLine {
  const text = line.slice(1);
  if (line.startsWith('+')) return { kind: 'add', text };
  return line.startsWith('-') ? { kind: 'del', text } : { kind: 'same', text };
}
