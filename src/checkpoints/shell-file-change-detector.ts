import { dirname, join, relative, sep } from 'node:path';
import type { CheckpointPathState } from '../contracts/session.ts';
import { getErrorPhrase } from '../lib/errors.ts';
import { MOUNT_NOT_ANSWERING } from '../lib/files/mount-health.ts';
import { formatPath } from '../lib/files/non-utf8-paths.ts';
import { resolveRealPath } from '../lib/files/read-or-default.ts';
import { createEventLoopYielder } from '../lib/promises.ts';
import type { CheckpointLedger, DetectedFileChange } from './checkpoint-ledger.ts';
import {
  isSameFileState,
  type SnapshotManifests,
  type WorkspaceSnapshot,
  type WorkspaceSnapshotTaker,
} from './workspace-snapshot.ts';

/** Dependencies of `createShellFileChangeDetector`. */
export type ShellFileChangeDetectorDeps = {
  readonly snapshots: WorkspaceSnapshotTaker;
  readonly manifests: SnapshotManifests;
  readonly roots: () => readonly string[];
  readonly home: string;
  readonly ledger: CheckpointLedger;
  readonly warn: (message: string) => void;
  readonly newId: () => string;
  /** Hashes of the contents that tools of other ouro processes wrote recently, by path. */
  readonly readOtherWrites: () => ReadonlyMap<string, string>;
};

/** A command that is being watched; `ended` records its changes once it has exited or continues in the background. */
export type ShellFileChangeDetection = { readonly ended: (how: 'over' | 'goes on') => Promise<void> };

/** Detects the changes made by shell commands, by comparing the workspace before and after them. */
export function createShellFileChangeDetector(deps: ShellFileChangeDetectorDeps) {
  const running = new Set<number>();
  const warned = new Set<string>();
  let queue: Promise<unknown> = Promise.resolve();

  /** Runs one snapshot at a time; two at once would read the same files twice. */
  function enqueue<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = queue.then(task);
    queue = result.catch(() => undefined);
    return result;
  }

  async function open(): Promise<OpenedWatch | undefined> {
    const problem = explainTooLarge(deps.roots(), deps.home);
    if (problem !== undefined) return void warnOnce(problem);
    const snapshot = await deps.snapshots.take(deps.roots());
    const order = deps.ledger.nextOrder();
    const root = deps.roots()[0] ?? '/';
    const notKept = listNotStored(snapshot, root);
    if (notKept.length > 0) warnOnce(`Changes by shell commands to these paths cannot be undone: ${shorten(notKept)}.`);
    try {
      deps.manifests.save(String(order), snapshot);
    } catch (thrown) {
      warnOnce(`Changes by shell commands could not be undone after a crash: ${getErrorPhrase(thrown)}.`);
    }
    await deps.ledger.append({ step: 'command', id: deps.newId(), order, root, manifest: String(order), notKept });
    return { order, snapshot };
  }

  async function end({ order, snapshot, writes }: OpenedWatch & Writes, how: 'over' | 'goes on'): Promise<void> {
    await recordChanges(order, snapshot, writes);
    running.delete(order);
    if (how === 'over') await close(order);
  }

  async function recordChanges(order: number, before: WorkspaceSnapshot, writes?: readonly string[]): Promise<void> {
    const after = await deps.snapshots.take(deps.roots());
    const isByCommand = createChangeFilter(writes, deps.readOtherWrites());
    const until = deps.ledger.nextOrder();
    const yieldIfDue = createEventLoopYielder();
    for (const change of listChanges(before, after, deps.snapshots.captureState).filter(isByCommand)) {
      await yieldIfDue();
      await deps.ledger.recordChange({ ...change, order, until });
    }
  }

  async function close(order: number): Promise<void> {
    deps.manifests.drop(String(order));
    await deps.ledger.append({ step: 'command-end', order });
  }

  function warnOnce(message: string): void {
    if (warned.has(message)) return;
    warned.add(message);
    deps.warn(message);
  }

  return {
    /** Starts watching a command that is about to run; without effect if the workspace is too large. */
    begin: (writes?: readonly string[]): Promise<ShellFileChangeDetection> =>
      enqueue(async () => {
        const opened = await open();
        if (opened === undefined) return { ended: async () => undefined };
        running.add(opened.order);
        return { ended: (how: 'over' | 'goes on') => enqueue(() => end({ ...opened, writes }, how)) };
      }),
    /** Starts a new watch for background commands, so that later changes belong to the new prompt. */
    continueWatch: () => enqueue(open),
    /** Records the changes so far of commands that a crash cut off or that continue in the background. */
    recordOpenCommands: () =>
      enqueue(async () => {
        for (const { order, manifest } of deps.ledger.listOpenCommands()) {
          if (running.has(order)) continue;
          const before = deps.manifests.load(manifest);
          if (before !== undefined) await recordChanges(order, before);
          await close(order);
        }
      }),
  };
}

type OpenedWatch = { readonly order: number; readonly snapshot: WorkspaceSnapshot };

/** Returns a message if a root is the home folder or the whole disk, which are not workspaces. */
function explainTooLarge(roots: readonly string[], home: string): string | undefined {
  const tooLarge = roots.find((root) => root === '/' || root === home);
  return tooLarge === undefined
    ? undefined
    : `Changes by shell commands cannot be undone: ${tooLarge} is too large to watch. Start ouro in a project folder.`;
}

function listNotStored({ files, unknown }: WorkspaceSnapshot, root: string): readonly string[] {
  const notStored = [...files].flatMap(([path, entry]) =>
    entry.kind === 'not-kept' ? [[path, entry.why] as const] : [],
  );
  const names = [...unknown, ...notStored].map(([path, why]) => `${formatPath(relative(root, path))} (${why})`);
  return names.length <= MAX_RECORDED
    ? names
    : [...names.slice(0, MAX_RECORDED), `${names.length - MAX_RECORDED} more`];
}

const MAX_SHOWN = 5;
const MAX_RECORDED = 50;

function shorten(names: readonly string[]): string {
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
}

type Writes = { readonly writes: readonly string[] | undefined };

/** Written by ouro itself while a command runs: permission rules that the user accepts. */
const OWN_SETTINGS = join('.claude', 'settings.local.json');

/** Creates a test for changes the command can have made: inside `writes`, and not by an ouro process. */
function createChangeFilter(
  writes: readonly string[] | undefined,
  others: ReadonlyMap<string, string>,
): (change: PathChange) => boolean {
  const writable = writes?.flatMap((path) => [path, resolveRealPath(path)]);
  return ({ path, after }) => {
    if (after.kind === 'file' && (path.endsWith(`${sep}${OWN_SETTINGS}`) || others.get(path) === after.hash))
      return false;
    return writable?.some((allowed) => isWithin(path, allowed) || isWithin(allowed, path)) ?? true;
  };
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(folder + sep);

type PathChange = Pick<DetectedFileChange, 'path' | 'before' | 'after'>;

/** Returns every path whose state differs; paths that were skipped before are not attributed to the command. */
function listChanges(
  before: WorkspaceSnapshot,
  after: WorkspaceSnapshot,
  captureState: (path: string) => CheckpointPathState,
): readonly PathChange[] {
  const changes: PathChange[] = [];
  // Looking at a path there would block; what it held counts as unchanged.
  const notAnswering = new Map([...after.unknown].filter(([, why]) => why === MOUNT_NOT_ANSWERING));
  for (const [path, old] of before.files) {
    if (isUnder(path, notAnswering)) continue;
    // It may now be inside a folder that has become too large and was skipped.
    const current = after.files.get(path) ?? (isUnder(path, after.unknown) ? captureState(path) : ABSENT);
    if (!isSameFileState(old, current)) changes.push({ path, before: old, after: current });
  }
  for (const [path, current] of after.files) {
    if (!before.files.has(path) && !isUnder(path, before.unknown))
      changes.push({ path, before: ABSENT, after: current });
  }
  return changes;
}

const ABSENT: CheckpointPathState = { kind: 'absent' };

function isUnder(path: string, folders: ReadonlyMap<string, string>): boolean {
  if (folders.size === 0) return false;
  for (let at = path; ; at = dirname(at)) {
    if (folders.has(at)) return true;
    if (dirname(at) === at) return false;
  }
}
