import { relative } from 'node:path';
import type { CheckpointEntry, FileBefore } from '../contracts/session.ts';
import { messageOf } from '../lib/errors.ts';
import { changesSince } from './compare.ts';
import type { Manifests } from './manifests.ts';
import type { Snapshot, Snapshots } from './snapshot.ts';

type CommandEntry = Extract<CheckpointEntry, { step: 'command' }>;

export type CommandParts = {
  readonly snapshots: Snapshots;
  readonly manifests: Manifests;
  readonly roots: () => readonly string[];
  readonly home: string;
  /** Commands on record without an end. */
  readonly open: () => readonly CommandEntry[];
  readonly next: () => number;
  readonly append: (entry: CheckpointEntry) => Promise<void>;
  readonly change: (path: string, before: FileBefore, order: number) => Promise<void>;
  readonly warn: (words: string) => void;
  readonly newId: () => string;
};

/** Finds out what shell commands change by looking at the workspace before and after them. */
export function watchCommands(parts: CommandParts) {
  const running = new Set<number>();
  const told = new Set<string>();
  let turn: Promise<unknown> = Promise.resolve();

  /** One look at a time: two would read the same files twice. */
  function inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function open(): Promise<{ readonly order: number; readonly snapshot: Snapshot } | undefined> {
    const objection = tooWide(parts.roots(), parts.home);
    if (objection !== undefined) {
      warnOnce(objection);
      return undefined;
    }
    const snapshot = await parts.snapshots.take(parts.roots());
    const order = parts.next();
    const root = parts.roots()[0] ?? '/';
    const notKept = namesOf(snapshot, root);
    if (notKept.length > 0) warnOnce(`What commands change here cannot be undone: ${short(notKept)}.`);
    try {
      parts.manifests.save(String(order), snapshot);
    } catch (thrown) {
      warnOnce(`What commands change could not be undone after a crash: ${messageOf(thrown)}.`);
    }
    await parts.append({ step: 'command', id: parts.newId(), order, root, manifest: String(order), notKept });
    return { order, snapshot };
  }

  async function end(order: number, before: Snapshot, how: 'over' | 'goes on'): Promise<void> {
    await look(order, before);
    running.delete(order);
    if (how === 'over') await close(order);
  }

  async function look(order: number, before: Snapshot): Promise<void> {
    const after = await parts.snapshots.take(parts.roots());
    for (const { path, before: was } of changesSince(before, after, parts.snapshots.at)) {
      await parts.change(path, was, order);
    }
  }

  async function close(order: number): Promise<void> {
    parts.manifests.drop(String(order));
    await parts.append({ step: 'command-end', order });
  }

  function warnOnce(words: string): void {
    if (told.has(words)) return;
    told.add(words);
    parts.warn(words);
  }

  return {
    /** A command is about to run; without a watch when the workspace is too wide for one. */
    begin: () =>
      inTurn(async () => {
        const opened = await open();
        if (opened === undefined) return { ended: async () => undefined };
        const { order, snapshot } = opened;
        running.add(order);
        return { ended: (how: 'over' | 'goes on') => inTurn(() => end(order, snapshot, how)) };
      }),
    /** Something in the background goes on across a checkpoint: from here its changes belong to the new one. */
    goOn: () => inTurn(open),
    /** Commands that a crash cut off, and those that went on in the background: what they have changed by now. */
    settle: () =>
      inTurn(async () => {
        for (const { order, manifest } of parts.open()) {
          if (running.has(order)) continue;
          const before = parts.manifests.load(manifest);
          if (before !== undefined) await look(order, before);
          await close(order);
        }
      }),
  };
}

/** A home folder or a whole disk is no workspace. */
function tooWide(roots: readonly string[], home: string): string | undefined {
  const wide = roots.find((root) => root === '/' || root === home);
  return wide === undefined
    ? undefined
    : `What shell commands change cannot be undone, because ${wide} is too large to watch. Start ouro in the folder of a project.`;
}

function namesOf({ files, unknown }: Snapshot, root: string): readonly string[] {
  const lost = [...files].flatMap(([path, entry]) => (entry.kind === 'not-kept' ? [[path, entry.why] as const] : []));
  const names = [...unknown, ...lost].map(([path, why]) => `${relative(root, path)} (${why})`);
  return names.length <= RECORDED ? names : [...names.slice(0, RECORDED), `${names.length - RECORDED} more`];
}

const NAMED = 5;
const RECORDED = 50;

function short(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}
