import { relative } from 'node:path';
import type { Feature } from '../../contracts/feature.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { decodeText } from '../../lib/files/text-encoding.ts';
import { wrapInReminder } from '../../lib/text/reminder.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { bashTraits } from '../bash/bash.ts';
import { type FileBytes, readFileBytes } from './read-bytes.ts';

/** A change of a file that was not made by the tools that change files. */
export type DiskChange = {
  readonly path: string;
  readonly status: 'changed' | 'deleted';
  /** Number of added and removed lines, if the content before is known. */
  readonly lines?: { readonly added: number; readonly removed: number };
  /** The complete diff, if it is short. */
  readonly diff?: string;
};

const READ_TIMEOUT_MS = 5_000;
const MAX_DIFF_LINES = 40;
const MAX_DIFF_CHARS = 4_000;

/** Reads the present version of a file and compares it with the content that was seen. */
export async function readDiskChange(
  path: string,
  before: Uint8Array | undefined,
): Promise<{ readonly change: DiskChange; readonly version?: FileBytes }> {
  const version = await readFileBytes(path, AbortSignal.timeout(READ_TIMEOUT_MS)).catch(() => undefined);
  if (version === undefined) return { change: { path, status: 'deleted' } };
  const [old, now] = [before && decodeText(before)?.text, decodeText(version.bytes)?.text];
  if (old === undefined || now === undefined || version.size > MAX_FILE_BYTES)
    return { change: { path, status: 'changed' }, version };
  // Loaded with the first change, not at startup.
  const { computeDiffHunks } = await import('../../lib/text/diff.ts');
  const hunks = computeDiffHunks(old, now);
  const diffLines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  const count = (sign: string) => hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length;
  const diff = sanitize(diffLines.join('\n'), 'output');
  const isShort = diffLines.length - hunks.length <= MAX_DIFF_LINES && diff.length <= MAX_DIFF_CHARS;
  // Texts that differ only in line endings have no hunks.
  const shown = isShort && hunks.length > 0 ? { diff } : {};
  return { change: { path, status: 'changed', lines: { added: count('+'), removed: count('-') }, ...shown }, version };
}

const MAX_LISTED = 20;

/** Formats changes as the last line of a result: `[changed: lib/a.js +1 −1]`. @internal Exported for tests. */
export function formatDiskChanges(changes: readonly DiskChange[], cwd: string): string {
  const named = changes.slice(0, MAX_LISTED).map(({ path, status, lines }) => {
    const name = sanitize(isPathBelow(cwd, path) ? relative(cwd, path) : path, 'line');
    if (status === 'deleted') return `${name} deleted`;
    return lines === undefined ? name : `${name} +${lines.added} −${lines.removed}`;
  });
  const more = changes.length > MAX_LISTED ? [`${changes.length - MAX_LISTED} more`] : [];
  return `[changed: ${[...named, ...more].join(', ')}]`;
}

/** Describes the known files that were changed outside the conversation; each change is described once. */
export async function describeUnseenChanges(readState: DiskChanges): Promise<readonly string[]> {
  const changes = await readState.takeDiskChanges();
  const hidden = changes.length - MAX_LISTED;
  const more = hidden > 0 ? [`And ${hidden} more files you have read were changed.`] : [];
  return [...changes.slice(0, MAX_LISTED).map(describeChange), ...more];
}

function describeChange({ path, status, diff }: DiskChange): string {
  if (status === 'deleted') return `${path} was deleted on disk since you last saw it.`;
  const intro = `${path} has changed on disk since you last saw it. Work from how it is now.`;
  return diff === undefined ? `${intro} Read it again before you edit it.` : `${intro} The difference:\n${diff}`;
}

type DiskChanges = {
  /** Returns each change outside the conversation once. */
  takeDiskChanges(): Promise<readonly DiskChange[]>;
  /** Returns the changes of a command, which count as changes by a tool. */
  adoptDiskChanges(): Promise<readonly DiskChange[]>;
};

/**
 * Tells the model which known files changed on disk. Those that a shell command changed stand in its result; the model
 * need not read them again.
 */
export function createDiskChangesFeature(readState: DiskChanges): Feature {
  return {
    name: 'disk changes',
    reminders: async () => (await describeUnseenChanges(readState)).map(wrapInReminder),
    async afterCall({ tool, cwd }, outcome) {
      const changes = tool === bashTraits.name ? await readState.adoptDiskChanges() : [];
      if (changes.length === 0) return {};
      const { content } = outcome;
      const note = formatDiskChanges(changes, cwd);
      const noted = typeof content === 'string' ? `${content}\n${note}`.trim() : [...content, createTextBlock(note)];
      return { outcome: { ...outcome, content: noted } };
    },
  };
}

const createTextBlock = (text: string) => ({ type: 'text', text }) as const;

const MAX_FILE_BYTES = 256 * 1024;
const MAX_CACHE_BYTES = 4 * 1024 * 1024;

/** Creates a cache for the contents of seen files, bounded in size; the files seen longest ago are dropped first. */
export function createContentCache() {
  const contents = new Map<string, Uint8Array>();
  let totalBytes = 0;
  const remove = (path: string) => {
    totalBytes -= contents.get(path)?.length ?? 0;
    contents.delete(path);
  };
  return {
    get: (path: string) => contents.get(path),
    set(path: string, bytes: Uint8Array | undefined) {
      remove(path);
      if (bytes === undefined || bytes.length > MAX_FILE_BYTES) return;
      contents.set(path, bytes);
      totalBytes += bytes.length;
      for (const oldest of contents.keys()) {
        if (totalBytes <= MAX_CACHE_BYTES) break;
        remove(oldest);
      }
    },
  };
}
