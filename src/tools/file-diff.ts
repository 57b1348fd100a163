import type { DiffHunk, DiffLine, Display } from '../contracts/display.ts';
import type { JsonValue } from '../contracts/json.ts';

/** A change as people see it and as hosts read it. */
export type ShownChange = {
  readonly display: Display;
  readonly structuredPatch: JsonValue;
  readonly added: number;
  readonly removed: number;
};

// Beyond this a host gets no copy of the old text; it would only swell the record.
const MAX_ORIGINAL_CHARS = 512 * 1024;

/** The difference between a file's old and new text. */
export async function showChange(file: string, before: string | undefined, after: string): Promise<ShownChange> {
  // Loaded with the first change, not at start.
  const { diffHunks } = await import('../lib/text/diff-hunks.ts');
  const patch = diffHunks(before ?? '', after);
  const hunks = patch.map((hunk): DiffHunk => ({ ...hunk, lines: hunk.lines.map(toLine) }));
  const all = hunks.flatMap((hunk) => hunk.lines);
  const added = all.filter((line) => line.kind === 'add').length;
  const removed = all.filter((line) => line.kind === 'del').length;
  return {
    display: { kind: 'diff', path: file, created: before === undefined, hunks, added, removed },
    structuredPatch: patch,
    added,
    removed,
  };
}

/** The old text for hosts, unless it is very large. */
export function originalForHosts(text: string | undefined): string | null {
  return text === undefined || text.length > MAX_ORIGINAL_CHARS ? null : text;
}

function toLine(line: string): DiffLine {
  const text = line.slice(1);
  if (line.startsWith('+')) return { kind: 'add', text };
  return line.startsWith('-') ? { kind: 'del', text } : { kind: 'same', text };
}
