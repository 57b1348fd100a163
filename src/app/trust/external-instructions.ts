import type { PromptTemplate, SubAgentDefinition } from '../../contracts/extension.ts';
import { loadExtensions } from '../../extensions/load-extensions.ts';
import { findRepositoryRoot } from '../../git/git-repository.ts';
import { resolveRealPath } from '../../lib/files/read-or-default.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { findMemoryBelow } from '../../prompt/memory/memory-locations.ts';
import { createSessionMemory } from '../../prompt/memory/session-memory-files.ts';
import { listInstructionRoots, listSettingsFolders } from '../read-settings.ts';

/** A file outside a folder that its instructions include. */
export type ExternalInstructionFile = {
  readonly realPath: string;
  /** File with the import, or the symbolic link, that leads to it. */
  readonly from: string;
};

/** The extensions and external files of a folder that need the user's approval. */
export type FolderContentToApprove = {
  /** Commands and skills. */
  readonly callables: readonly PromptTemplate[];
  readonly agents: readonly SubAgentDefinition[];
  readonly externalFiles: readonly ExternalInstructionFile[];
};

/**
 * Reads the instructions and extensions of a folder as a start does, and finds the external files they include; `below`
 * also reads its subfolders, as a session that visits them all would.
 */
export async function readFolderContentToApprove(
  cwd: string,
  home: string,
  depth: 'top' | 'below',
): Promise<FolderContentToApprove> {
  const root = findRepositoryRoot(cwd);
  const bounds = listInstructionRoots(cwd, root, home);
  const found = new Map<string, ExternalInstructionFile>();
  const admit = (realPath: string, from: string) => {
    if (!bounds.some((folder) => isPathInside(realPath, folder))) found.set(realPath, { realPath, from });
    return { ok: true, realPath } as const;
  };
  const memory = createSessionMemory({
    cwd: () => cwd,
    root,
    home,
    globalFiles: [],
    isTrusted: () => true,
    mayRead: ({ path, realPath, importedBy }) => admit(realPath, importedBy ?? path),
  });
  const [{ commands, skills, agents }] = await Promise.all([
    loadExtensions({
      projectFolders: listSettingsFolders(cwd, home),
      agentsFlag: undefined,
      checkFile: (path) => admit(resolveRealPath(path), path),
    }),
    memory.load(),
  ]);
  if (depth === 'below') await memory.touch(await findMemoryBelow(bounds.at(-1) ?? cwd));
  return {
    callables: [...commands, ...skills],
    agents,
    externalFiles: [...found.values()].toSorted((a, b) => (a.realPath < b.realPath ? -1 : 1)),
  };
}

/** Encodes the accepted external files, one per line, so that new ones can be told apart. */
export function encodeExternalFiles(files: readonly ExternalInstructionFile[]): string {
  return files.length === 0 ? 'nothing' : files.map(({ realPath }) => JSON.stringify(realPath)).join('\n');
}

/** Returns whether an encoded list of accepted files contains a file. */
export function isExternalFileAccepted(mark: string | undefined, realPath: string): boolean {
  return mark?.split('\n').includes(JSON.stringify(realPath)) === true;
}
