import { realpathSync } from 'node:fs';
import type { AgentKind, Callable } from '../../contracts/extension.ts';
import { loadExtensions } from '../../extensions/load-extensions.ts';
import { repositoryRoot } from '../../git/repository-root.ts';
import { isInside } from '../../permissions/paths/paths.ts';
import { memoryBelow } from '../../prompt/memory/memory-below.ts';
import { createMemory } from '../../prompt/memory/memory-files.ts';
import { instructionBounds, projectFolders } from './project-folders.ts';

/** A file that instructions of a folder reach although it lies outside of it. */
export type OutsideFile = {
  readonly realPath: string;
  /** The import or the link that leads there. */
  readonly from: string;
};

/** What a folder would give to the model, as far as a person is asked about it. */
export type Brought = {
  /** Commands and skills. */
  readonly callables: readonly Callable[];
  readonly agents: readonly AgentKind[];
  readonly outside: readonly OutsideFile[];
};

/**
 * What the instructions and extensions of a folder bring in from outside, found by reading them as a start does, and
 * `below` it as a session does that comes by every folder.
 */
export async function readBrought(cwd: string, home: string, depth: 'top' | 'below'): Promise<Brought> {
  const root = repositoryRoot(cwd);
  const bounds = instructionBounds(cwd, root, home);
  const found = new Map<string, OutsideFile>();
  const note = (realPath: string, from: string) => {
    if (!bounds.some((folder) => isInside(realPath, folder))) found.set(realPath, { realPath, from });
    return { ok: true, realPath } as const;
  };
  const memory = createMemory({
    cwd: () => cwd,
    root,
    home,
    ownFiles: [],
    trusted: () => true,
    mayRead: ({ path, realPath, importedBy }) => note(realPath, importedBy ?? path),
  });
  const [{ commands, skills, agents }] = await Promise.all([
    loadExtensions({
      projectFolders: projectFolders(cwd, home),
      agentsFlag: undefined,
      admits: (path) => note(realPathOf(path), path),
    }),
    memory.load(),
  ]);
  if (depth === 'below') await memory.touch(await memoryBelow(bounds.at(-1) ?? cwd));
  return {
    callables: [...commands, ...skills],
    agents,
    outside: [...found.values()].toSorted((a, b) => (a.realPath < b.realPath ? -1 : 1)),
  };
}

/** Where the links of a path lead; a path that leads nowhere stays as it is. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The mark of what was accepted: one file a line, so that what is new among them can be told from the rest. */
export function outsideMark(files: readonly OutsideFile[]): string {
  return files.length === 0 ? 'nothing' : files.map(({ realPath }) => JSON.stringify(realPath)).join('\n');
}

/** Does the mark of what was accepted name this file? What was never asked about was not accepted. */
export function isAccepted(mark: string | undefined, realPath: string): boolean {
  return mark?.split('\n').includes(JSON.stringify(realPath)) === true;
}
