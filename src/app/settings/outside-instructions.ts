import { repositoryRoot } from '../../git/repository-root.ts';
import { isInside } from '../../permissions/paths/paths.ts';
import { createMemory } from '../../prompt/memory/memory-files.ts';

/** A file that instructions of a folder reach although it lies outside of it. */
export type OutsideFile = {
  readonly realPath: string;
  /** The import or the link that leads there. */
  readonly from: string;
};

/** Where instructions of a folder may lie: in it, and in the repository around it unless that holds a whole home. */
export function instructionBounds(cwd: string, root: string, home: string): readonly string[] {
  return isInside(home, root) ? [cwd] : [cwd, root];
}

/** What the instructions that are read at the start would bring in from outside: found by reading them as a start does. */
export async function outsideInstructions(cwd: string, home: string): Promise<readonly OutsideFile[]> {
  const root = repositoryRoot(cwd);
  const bounds = instructionBounds(cwd, root, home);
  const found = new Map<string, OutsideFile>();
  const memory = createMemory({
    cwd: () => cwd,
    root,
    home,
    ownFiles: [],
    trusted: () => true,
    mayRead: ({ path, realPath, importedBy }) => {
      if (!bounds.some((folder) => isInside(realPath, folder)))
        found.set(realPath, { realPath, from: importedBy ?? path });
      return { ok: true };
    },
  });
  await memory.load();
  return [...found.values()].toSorted((a, b) => (a.realPath < b.realPath ? -1 : 1));
}

/** The mark of what was accepted: one file a line, so that what is new among them can be told from the rest. */
export function outsideMark(files: readonly OutsideFile[]): string {
  return files.length === 0 ? 'nothing' : files.map(({ realPath }) => JSON.stringify(realPath)).join('\n');
}

/** Does the mark of what was accepted name this file? What was never asked about was not accepted. */
export function isAccepted(mark: string | undefined, realPath: string): boolean {
  return mark?.split('\n').includes(JSON.stringify(realPath)) === true;
}
