import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { isPathBelow } from '../lib/files/path-style.ts';
import { isChangeableByOthers, type ProgramFile } from '../lib/programs/program-files.ts';
import type { TrustStore } from './trust-store.ts';

/** The approved programs of a folder during one run. */
export type ProgramApprovals = ReturnType<typeof createProgramApprovals>;

type ApprovalDeps = {
  readonly store: TrustStore;
  readonly realDir: string;
  /** `this-run` approves all programs as they were when the run began, and stores nothing. */
  readonly override: 'this-run' | undefined;
  /** The stored mark when the run began; `undefined` in folders that were trusted before programs were approved. */
  readonly mark: string | undefined;
  readonly startedAtMs: number;
};

/** Creates the approvals of the programs of a folder. */
export function createProgramApprovals({ store, realDir, override, mark, startedAtMs }: ApprovalDeps) {
  const isStored = override === undefined;
  const isNew = mark === undefined;
  let approved = new Map(isStored ? decodePrograms(mark) : []);

  async function refresh(): Promise<void> {
    if (!isStored) return;
    const stored = (await store.readMarks(realDir)).programs;
    if (stored !== undefined) approved = new Map([...(isNew ? approved : []), ...decodePrograms(stored)]);
  }

  async function save(): Promise<void> {
    if (isStored) await store.approve(realDir, { programs: encodeLines([...approved.values()]) });
  }

  return {
    /** Returns the files that are not approved as they are, and has the next trust question ask about them. */
    async findUnapproved(files: readonly ProgramFile[]): Promise<readonly ProgramFile[]> {
      await refresh();
      const wanted = files.filter((file) => approved.get(file.path) !== encodeProgram(file));
      const first = wanted.filter(
        (file) => (isNew || !isStored) && !approved.has(file.path) && isOlder(file, startedAtMs),
      );
      const refused = wanted.filter((file) => !first.includes(file));
      const asked = refused.filter(({ path }) => isStored && !approved.has(path));
      for (const file of first) approved.set(file.path, encodeProgram(file));
      for (const { path } of asked) approved.set(path, JSON.stringify([path]));
      if (first.length > 0 || asked.length > 0) await save();
      return refused;
    },
    /** Approves files that the user has just been asked about. */
    async approve(files: readonly ProgramFile[]): Promise<void> {
      await refresh();
      for (const file of files) approved.set(file.path, encodeProgram(file));
      if (files.length > 0) await save();
    },
    /** Lists the approved files and what links among them lead to, which commands and edits must not change. */
    listFrozen: (): readonly string[] => [
      ...new Set([...approved.values()].flatMap((line) => parseLine(line).slice(0, 2))),
    ],
  };
}

/** Returns whether a file has not changed since a time, by the time stamp that no program can set. */
function isOlder({ path, real, hash }: ProgramFile, timeMs: number): boolean {
  return (
    hash !== 'unreadable' &&
    [path, real].every(
      (name) => (statSync(name, { throwIfNoEntry: false })?.ctimeMs ?? Number.POSITIVE_INFINITY) < timeMs,
    )
  );
}

/**
 * Returns the test for files that a session may write, or that others may. In a session of the home folder, what is in
 * folders like `.local` and `.nvm` counts as the user's: every program that is installed for one user is there.
 */
export function createChangeableTest(roots: readonly string[], home: string): (path: string) => boolean {
  const isInstalled = (root: string, path: string) =>
    isPathBelow(root, home) && isPathBelow(home, path) && relative(home, path).startsWith('.');
  return (path) =>
    roots.some((root) => isPathBelow(root, path) && !isInstalled(root, path)) || isChangeableByOthers(path);
}

const encodeProgram = ({ path, real, hash }: ProgramFile) => JSON.stringify([path, real, hash]);

/** Encodes programs, one per line. */
export function encodePrograms(files: readonly ProgramFile[]): string {
  return encodeLines(files.map(encodeProgram));
}

function encodeLines(lines: readonly string[]): string {
  return lines.length === 0 ? 'nothing' : [...new Set(lines)].toSorted().join('\n');
}

/** Decodes a mark into its lines by path. A file that was asked for but never approved has a line without hash. */
export function decodePrograms(mark = 'nothing'): ReadonlyMap<string, string> {
  return new Map(
    mark.split('\n').flatMap((line) => {
      const [path] = parseLine(line);
      return path === undefined ? [] : [[path, line]];
    }),
  );
}

function parseLine(line: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(line);
    return Array.isArray(parts) ? parts.filter((part) => typeof part === 'string') : [];
  } catch {
    return [];
  }
}

/** Returns whether every program has been approved as it is. */
export function areProgramsApproved(known: string | undefined, files: readonly ProgramFile[]): boolean {
  const lines = decodePrograms(known);
  return known === undefined || files.every((file) => lines.get(file.path) === encodeProgram(file));
}
