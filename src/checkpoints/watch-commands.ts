import { realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { FileBefore } from '../contracts/session.ts';
import { messageOf } from '../lib/errors.ts';
import { shownPath } from '../lib/files/byte-names.ts';
import type { Change, Ledger } from './ledger.ts';
import type { Manifests } from './manifests.ts';
import { isEqual, type Snapshot, type Snapshots } from './snapshot.ts';

export type CommandParts = {
  readonly snapshots: Snapshots;
  readonly manifests: Manifests;
  readonly roots: () => readonly string[];
  readonly home: string;
  readonly ledger: Ledger;
  readonly warn: (words: string) => void;
  readonly newId: () => string;
  /** What tools of another ouro wrote of late, by the hash of its content. */
  readonly others: () => ReadonlyMap<string, string>;
};

/** Finds out what shell commands change by looking at the workspace before and after them. */
export function watchCommands(parts: CommandParts) {
  const running = new Set<number>();
  const warned = new Set<string>();
  let turn: Promise<unknown> = Promise.resolve();

  /** One look at a time: two would read the same files twice. */
  function inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function open(): Promise<Opened | undefined> {
    const objection = tooWide(parts.roots(), parts.home);
    if (objection !== undefined) return void warnOnce(objection);
    const snapshot = await parts.snapshots.take(parts.roots());
    const order = parts.ledger.next();
    const root = parts.roots()[0] ?? '/';
    const notKept = namesOf(snapshot, root);
    if (notKept.length > 0) warnOnce(`What commands change here cannot be undone: ${short(notKept)}.`);
    try {
      parts.manifests.save(String(order), snapshot);
    } catch (thrown) {
      warnOnce(`What commands change could not be undone after a crash: ${messageOf(thrown)}.`);
    }
    await parts.ledger.append({ step: 'command', id: parts.newId(), order, root, manifest: String(order), notKept });
    return { order, snapshot };
  }

  async function end({ order, snapshot, writes }: Opened & Writes, how: 'over' | 'goes on'): Promise<void> {
    await look(order, snapshot, writes);
    running.delete(order);
    if (how === 'over') await close(order);
  }

  async function look(order: number, before: Snapshot, writes?: readonly string[]): Promise<void> {
    const after = await parts.snapshots.take(parts.roots());
    const isOurs = changesOf(writes, parts.others());
    const until = parts.ledger.next();
    for (const change of changesSince(before, after, parts.snapshots.at).filter(isOurs)) {
      await parts.ledger.change({ ...change, order, until });
    }
  }

  async function close(order: number): Promise<void> {
    parts.manifests.drop(String(order));
    await parts.ledger.append({ step: 'command-end', order });
  }

  function warnOnce(words: string): void {
    if (warned.has(words)) return;
    warned.add(words);
    parts.warn(words);
  }

  return {
    /** A command is about to run; without a watch when the workspace is too large for one. */
    begin: (writes?: readonly string[]) =>
      inTurn(async () => {
        const opened = await open();
        if (opened === undefined) return { ended: async () => undefined };
        running.add(opened.order);
        return { ended: (how: 'over' | 'goes on') => inTurn(() => end({ ...opened, writes }, how)) };
      }),
    /** Something in the background goes on across a checkpoint: from here its changes belong to the new one. */
    goOn: () => inTurn(open),
    /** Commands that a crash cut off, and those that went on in the background: what they have changed by now. */
    settle: () =>
      inTurn(async () => {
        for (const { order, manifest } of parts.ledger.openCommands()) {
          if (running.has(order)) continue;
          const before = parts.manifests.load(manifest);
          if (before !== undefined) await look(order, before);
          await close(order);
        }
      }),
  };
}

type Opened = { readonly order: number; readonly snapshot: Snapshot };

/** A home folder or a whole disk is no workspace. */
function tooWide(roots: readonly string[], home: string): string | undefined {
  const tooLarge = roots.find((root) => root === '/' || root === home);
  return tooLarge === undefined
    ? undefined
    : `What shell commands change cannot be undone, because ${tooLarge} is too large to watch. Start ouro in the folder of a project.`;
}

function namesOf({ files, unknown }: Snapshot, root: string): readonly string[] {
  const lost = [...files].flatMap(([path, entry]) => (entry.kind === 'not-kept' ? [[path, entry.why] as const] : []));
  const names = [...unknown, ...lost].map(([path, why]) => `${shownPath(relative(root, path))} (${why})`);
  return names.length <= RECORDED ? names : [...names.slice(0, RECORDED), `${names.length - RECORDED} more`];
}

const NAMED = 5;
const RECORDED = 50;

function short(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}

type Writes = { readonly writes: readonly string[] | undefined };

/** Written by ouro itself while a command may run: the rules that people agree to. */
const OWN_SETTINGS = join('.claude', 'settings.local.json');

/** Which changes were made by a command that can write in these places at all, and not by another ouro meanwhile. */
function changesOf(
  writes: readonly string[] | undefined,
  others: ReadonlyMap<string, string>,
): (change: Seen) => boolean {
  const places = writes?.flatMap((place) => [place, whereItLeads(place)]);
  return ({ path, after }) => {
    if (after.kind === 'file' && (path.endsWith(`${sep}${OWN_SETTINGS}`) || others.get(path) === after.hash))
      return false;
    return places?.some((place) => isWithin(path, place) || isWithin(place, path)) ?? true;
  };
}

function whereItLeads(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return place;
  }
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(folder + sep);

type Seen = Pick<Change, 'path' | 'before' | 'after'>;

/** Every path that is not as it was. What was not looked at before is nobody's change. */
function changesSince(before: Snapshot, after: Snapshot, now: (path: string) => FileBefore): readonly Seen[] {
  const changes: Seen[] = [];
  for (const [path, old] of before.files) {
    // It may have slipped under a folder that became too large to look at.
    const current = after.files.get(path) ?? (isUnder(path, after.unknown) ? now(path) : ABSENT);
    if (!isEqual(old, current)) changes.push({ path, before: old, after: current });
  }
  for (const [path, current] of after.files) {
    if (!before.files.has(path) && !isUnder(path, before.unknown))
      changes.push({ path, before: ABSENT, after: current });
  }
  return changes;
}

const ABSENT: FileBefore = { kind: 'absent' };

function isUnder(path: string, folders: ReadonlyMap<string, string>): boolean {
  if (folders.size === 0) return false;
  for (let at = path; ; at = dirname(at)) {
    if (folders.has(at)) return true;
    if (dirname(at) === at) return false;
  }
}
