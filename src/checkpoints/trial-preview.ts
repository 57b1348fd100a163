import { relative } from 'node:path';
import type { DiffHunk, DiffLine, Display } from '../contracts/display.ts';
import type { CheckpointPathState } from '../contracts/session.ts';
import { decodeText } from '../lib/files/text-encoding.ts';
import { formatBytes } from '../lib/text/format.ts';
import { diffFile } from '../tools/files/diff-file.ts';
import type { TrialChange, TrialChanges } from './trial-changes.ts';

const MAX_FILES = 40;
const MAX_CHARS = 200_000;

/** Shows changes as one diff: of texts their lines, of anything else what became of it. */
export async function previewTrialChanges({ changes, contents }: TrialChanges, cwd: string): Promise<Display> {
  const listed = changes.filter((change) => !isFolderOfListed(change, changes));
  const hunks: DiffHunk[] = [];
  for (const { path, before, after } of listed.slice(0, MAX_FILES)) {
    const name = relative(cwd, path) || '.';
    const texts = [before, after].map((state) => readText(state, contents));
    const [old, next] = texts;
    const diff = old === undefined || next === undefined ? undefined : await diffFile(name, old, next);
    const ofTexts = diff?.display.kind === 'diff' ? diff.display.hunks : [];
    const notes = describeChange(before, after, ofTexts.length > 0, contents);
    if (notes.length > 0) hunks.push(createNote(name, notes));
    hunks.push(...ofTexts.map((hunk) => ({ ...hunk, path: name })));
  }
  const left = listed.length - MAX_FILES;
  if (left > 0) hunks.push(createNote('', [{ kind: 'same', text: `[${left} more]` }]));
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  return {
    kind: 'diff',
    path: hunks[0]?.path ?? '',
    created: false,
    hunks,
    added: count('add'),
    removed: count('del'),
  };
}

/** True for a new or a deleted folder of which something is listed, which says the same. */
function isFolderOfListed({ path, before, after }: TrialChange, changes: readonly TrialChange[]): boolean {
  const isOnlyFolder = [before, after].every(({ kind }) => kind === 'folder' || kind === 'absent');
  return isOnlyFolder && changes.some((other) => other.path.startsWith(`${path}/`));
}

/** Returns the text of a file, or the empty text where there is none. */
function readText(state: CheckpointPathState, contents: TrialChanges['contents']): string | undefined {
  if (state.kind === 'absent') return '';
  const bytes = state.kind === 'file' ? contents.get(state.hash) : undefined;
  const text = bytes === undefined ? undefined : decodeText(bytes)?.text;
  return text === undefined || text.length > MAX_CHARS ? undefined : text;
}

function describeChange(
  before: CheckpointPathState,
  after: CheckpointPathState,
  isShown: boolean,
  contents: TrialChanges['contents'],
): readonly DiffLine[] {
  if (after.kind === 'absent') return [{ kind: 'del', text: `[deleted: ${describeState(before, contents)}]` }];
  const isNew = before.kind === 'absent' || before.kind !== after.kind;
  if (isNew) return isShown ? [] : [{ kind: 'add', text: `[new: ${describeState(after, contents)}]` }];
  const modes = [before, after].flatMap((state) => ('mode' in state ? [state.mode.toString(8)] : []));
  const isModeChanged = modes[0] !== modes[1];
  return [
    ...(isModeChanged ? [{ kind: 'add', text: `[mode ${modes.join(' becomes ')}]` } as const] : []),
    ...(isShown || isModeChanged
      ? []
      : [{ kind: 'add', text: `[changed: ${describeState(after, contents)}]` } as const]),
  ];
}

function describeState(state: CheckpointPathState, contents: TrialChanges['contents']): string {
  if (state.kind === 'link') return `a link to ${state.target}`;
  if (state.kind !== 'file') return `a ${state.kind}`;
  return `a file of ${formatBytes(contents.get(state.hash)?.length ?? 0)}`;
}

const createNote = (path: string, lines: readonly DiffLine[]): DiffHunk => ({
  ...{ oldStart: 1, oldLines: 0, newStart: 1, newLines: lines.length, lines },
  ...(path === '' ? {} : { path }),
});
