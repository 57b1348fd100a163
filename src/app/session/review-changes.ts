import { readFile, unlink } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Agent } from '../../contracts/agent.ts';
import type { DiffHunk } from '../../contracts/display.ts';
import { messageOf } from '../../lib/errors.ts';
import { writeAtomically } from '../../lib/files/atomic-write.ts';
import { type DecodedText, decodeText, encodeText } from '../../lib/files/encoding.ts';
import { mergeLines } from '../../lib/text/merge-lines.ts';
import { withoutHunks } from '../../lib/text/pick-hunks.ts';
import { reminder } from '../../prompt/reminder.ts';
import { showChange } from '../../tools/file-diff.ts';
import type { SessionCheckpoints } from './checkpoints.ts';

/** A part of what a prompt changed, and the file as it would be without it. */
type Part = { readonly hunk: DiffHunk; readonly without: string | undefined };

/** A file that a prompt changed: the parts of it that still stand there. */
export type ChangedFile = {
  readonly path: string;
  readonly state: 'changed' | 'made' | 'removed' | 'unknown';
  readonly added: number;
  readonly removed: number;
  readonly parts: readonly Part[];
  /** What stood there before, where it was a text. */
  readonly before?: DecodedText;
};

export type ChangedTurn = { readonly prompt: string; readonly at: string; readonly files: readonly ChangedFile[] };

type Needs = {
  readonly agent: Pick<Agent, 'state'>;
  readonly checkpoints: Pick<SessionCheckpoints, 'changes' | 'prompt' | 'beforeChange' | 'beforeCommand'> | undefined;
  readonly cwd: () => string;
  readonly newId: () => string;
  /** Told to the model with its next turn. */
  readonly addNews: (words: string) => void;
};

type Changes = Awaited<ReturnType<SessionCheckpoints['changes']>>[number]['files'][number];
type Done = { readonly ok: boolean; readonly words: string };

/** What this session changed, to be looked through and taken back in parts. */
export function createChangeReview({ agent, checkpoints, cwd, newId, addNews }: Needs) {
  /** Every prompt that changed files, the oldest first. */
  async function turns(): Promise<readonly ChangedTurn[]> {
    const changes = (await checkpoints?.changes()) ?? [];
    return Promise.all(
      changes.map(async ({ prompt, at, files }) => ({ prompt, at, files: await Promise.all(files.map(changedFile)) })),
    );
  }

  /** Takes one part of a file back that still stands there; everything else in the file stays as it is. */
  async function takeBack({ path, parts, state, before }: ChangedFile, at: number): Promise<Done> {
    if (checkpoints === undefined)
      return { ok: false, words: 'This session is not kept, so nothing can be taken back.' };
    if (agent.state().status !== 'idle')
      return { ok: false, words: 'A reply is being written. Stop it first, or wait.' };
    const part = parts[at];
    if (part === undefined) return { ok: false, words: 'There is no such part.' };
    const now = (await readText(path)) ?? (state === 'removed' ? before : undefined);
    if (part.without === undefined || now === undefined)
      return { ok: false, words: 'These lines were changed again since, so this part cannot be taken back by itself.' };
    const encoded = encodeText(part.without, now);
    if (!encoded.ok) return { ok: false, words: `${path} cannot hold ${encoded.character} in its encoding.` };
    const name = relative(cwd(), path);
    try {
      await checkpoints.prompt(`typed-${newId()}`, `a part of ${name} was taken back`);
      if (state === 'made' && part.without === '') {
        // Of a file that was made nothing is left: it goes, too.
        const watch = await checkpoints.beforeCommand([path]);
        await unlink(path);
        await watch.ended('over');
      } else {
        await checkpoints.beforeChange(path, encoded.bytes);
        await writeAtomically(path, encoded.bytes);
      }
    } catch (thrown) {
      return { ok: false, words: `${name} was not written: ${messageOf(thrown)}.` };
    }
    addNews(
      reminder(`The user looked at the changes to ${path} and took this part of them back:\n${hunkText(part.hunk)}`),
    );
    return { ok: true, words: `Taken back in ${name}. /undo brings it back.` };
  }

  return { turns, takeBack };
}

async function changedFile({ path, before, after }: Changes): Promise<ChangedFile> {
  const [old, fresh] = [textOf(before), textOf(after)];
  const state = before.is === 'absent' ? 'made' : after.is === 'absent' ? 'removed' : 'changed';
  if (old === undefined || fresh === undefined) return { path, state: 'unknown', added: 0, removed: 0, parts: [] };
  const { display, added, removed } = await showChange(path, before.is === 'absent' ? undefined : old, fresh);
  const hunks = display.kind === 'diff' ? display.hunks : [];
  const decoded = before.is === 'bytes' ? decodeText(before.bytes) : undefined;
  // What was removed and is still away can be brought back as it was.
  const now = (await readText(path))?.text ?? (state === 'removed' ? fresh : undefined);
  const parts = hunks.map((hunk, at): Part => {
    const wanted = withoutHunks(old, fresh, hunks, [at]);
    return { hunk, without: now === undefined ? undefined : mergeLines(fresh, now, wanted) };
  });
  // What somebody has taken back already is there no more.
  return {
    path,
    state,
    added,
    removed,
    parts: parts.filter(({ without }) => without === undefined || without !== now),
    ...(decoded === undefined ? {} : { before: decoded }),
  };
}

function textOf(content: Changes['before']): string | undefined {
  if (content.is === 'absent') return '';
  return content.is === 'bytes' ? decodeText(content.bytes)?.text : undefined;
}

async function readText(path: string): Promise<DecodedText | undefined> {
  try {
    return decodeText(await readFile(path));
  } catch {
    // It is not there any more, or nobody may read it.
    return undefined;
  }
}

const SIGNS = { add: '+', del: '-', same: ' ' } as const;

function hunkText({ lines }: DiffHunk): string {
  return lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`).join('\n');
}
