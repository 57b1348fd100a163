import { readFile, unlink } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Agent } from '../contracts/agent.ts';
import type { DiffHunk } from '../contracts/display.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { getErrorPhrase, ignoreMissingFile } from '../lib/errors.ts';
import { writeAtomically } from '../lib/files/atomic-write.ts';
import type { FileLocks } from '../lib/files/file-locks.ts';
import { type DecodedText, decodeText, encodeText } from '../lib/files/text-encoding.ts';
import { mergeLinesThreeWay, revertHunks } from '../lib/text/diff.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import { createTypedCallId } from '../tools/bash/user-commands.ts';
import { diffFile } from '../tools/files/diff-file.ts';
import type { Checkpoints } from './create-checkpoints.ts';

/** A hunk of a change, and the file text without it. */
type Part = { readonly hunk: DiffHunk; readonly without: string | undefined };

/** A file that a prompt changed, with the hunks that are still present. */
export type TurnChangedFile = {
  readonly path: string;
  readonly state: 'changed' | 'made' | 'removed' | 'unknown';
  readonly added: number;
  readonly removed: number;
  readonly parts: readonly Part[];
  readonly before?: DecodedText;
  /** The present text, which the parts are of. */
  readonly current?: string;
};

/** A prompt with the files it changed. */
export type TurnChangedFiles = {
  readonly prompt: string;
  readonly at: string;
  readonly files: readonly TurnChangedFile[];
};

type ChangeReviewDeps = {
  readonly agent: Agent;
  readonly checkpoints:
    | Pick<Checkpoints, 'listTurnChanges' | 'addPrompt' | 'beforeChange' | 'beforeCommand'>
    | undefined;
  readonly cwd: () => string;
  readonly locks: FileLocks;
  readonly newId: () => string;
  /** Adds news for the model's next turn. */
  readonly inbox: SessionCore['inbox'];
};

type Changes = Awaited<ReturnType<Checkpoints['listTurnChanges']>>[number]['files'][number];
type RevertOutcome = { readonly ok: boolean; readonly message: string };

/** Creates the review of the files this session changed, where single hunks can be reverted. */
export function createChangeReview({ agent, checkpoints, cwd, locks, newId, inbox }: ChangeReviewDeps) {
  /** Lists the prompts that changed files, oldest first. */
  async function listTurns(): Promise<readonly TurnChangedFiles[]> {
    const changes = (await checkpoints?.listTurnChanges()) ?? [];
    return Promise.all(
      changes.map(async ({ prompt, at, files }) => ({ prompt, at, files: await Promise.all(files.map(describeFile)) })),
    );
  }

  /** Reverts one hunk that is still present. The rest of the file is not changed. */
  async function revertHunk(file: TurnChangedFile, at: number): Promise<RevertOutcome> {
    if (checkpoints === undefined)
      return { ok: false, message: 'This session is not saved, so changes cannot be reverted.' };
    if (agent.state().status !== 'idle')
      return { ok: false, message: 'A reply is in progress. Stop it first, or wait.' };
    const part = file.parts[at];
    if (part === undefined) return { ok: false, message: 'There is no such hunk.' };
    const name = relative(cwd(), file.path);
    try {
      const problem = await locks.run([file.path], () => writeWithout(part, file, checkpoints));
      if (problem !== undefined) return { ok: false, message: problem };
    } catch (thrown) {
      return { ok: false, message: `Cannot write ${name}: ${getErrorPhrase(thrown)}.` };
    }
    inbox.add(
      wrapInReminder(
        `The user looked at the changes to ${file.path} and took this part of them back:\n${formatHunk(part.hunk)}`,
      ),
    );
    return { ok: true, message: `Reverted in ${name}. /undo restores it.` };
  }

  /** Writes a file without a part. Later changes to other lines are kept. Returns why this is not possible. */
  async function writeWithout(
    part: Part,
    { path, state, before, current: listed }: TurnChangedFile,
    { addPrompt, beforeCommand, beforeChange }: NonNullable<typeof checkpoints>,
  ): Promise<string | undefined> {
    const bytes = await ignoreMissingFile(readFile(path));
    const current = bytes === undefined ? (state === 'removed' ? before : undefined) : decodeText(bytes);
    const text =
      part.without === undefined || current === undefined || listed === undefined
        ? undefined
        : mergeLinesThreeWay(listed, current.text, part.without);
    if (text === undefined || current === undefined)
      return 'These lines have changed since, so this hunk cannot be reverted separately.';
    const encoded = encodeText(text, current);
    if (!encoded.ok) return `The encoding of ${path} cannot represent ${encoded.character}.`;
    await addPrompt(createTypedCallId(newId), `a hunk of ${relative(cwd(), path)} was reverted`);
    if (state === 'made' && text === '') {
      // A created file of which nothing is left is deleted.
      const watch = await beforeCommand([path]);
      await unlink(path);
      await watch.ended('over');
    } else {
      await beforeChange(path, encoded.bytes);
      await writeAtomically(path, encoded.bytes, { expected: bytes ?? 'no file' });
    }
    return undefined;
  }

  return { listTurns, revertHunk };
}

async function describeFile({ path, before, after }: Changes): Promise<TurnChangedFile> {
  const [oldText, newText] = [getText(before), getText(after)];
  const state = before.is === 'absent' ? 'made' : after.is === 'absent' ? 'removed' : 'changed';
  if (oldText === undefined || newText === undefined)
    return { path, state: 'unknown', added: 0, removed: 0, parts: [] };
  const { display, added, removed } = await diffFile(path, before.is === 'absent' ? undefined : oldText, newText);
  const hunks = display.kind === 'diff' ? display.hunks : [];
  const decoded = before.is === 'bytes' ? decodeText(before.bytes) : undefined;
  // A deleted file that still does not exist can be restored.
  const current = (await readText(path))?.text ?? (state === 'removed' ? newText : undefined);
  const parts = hunks.map((hunk, at): Part => {
    const wanted = revertHunks(oldText, newText, hunks, [at]);
    return { hunk, without: current === undefined ? undefined : mergeLinesThreeWay(newText, current, wanted) };
  });
  // Hunks that are already reverted are dropped.
  return {
    path,
    state,
    added,
    removed,
    parts: parts.filter(({ without }) => without === undefined || without !== current),
    ...(decoded === undefined ? {} : { before: decoded }),
    ...(current === undefined ? {} : { current }),
  };
}

function getText(content: Changes['before']): string | undefined {
  if (content.is === 'absent') return '';
  return content.is === 'bytes' ? decodeText(content.bytes)?.text : undefined;
}

async function readText(path: string): Promise<DecodedText | undefined> {
  try {
    return decodeText(await readFile(path));
  } catch {
    // The file no longer exists, or is not readable.
    return undefined;
  }
}

const SIGNS = { add: '+', del: '-', same: ' ' } as const;

function formatHunk({ lines }: DiffHunk): string {
  return lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`).join('\n');
}
