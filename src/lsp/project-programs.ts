import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { hasAccess } from '../lib/files/has-access.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';

/** The condition under which a language server or a formatter belongs to a project. */
export type ProjectCondition = {
  /** Files of a project, one of which must be in a folder above a file; absent: every project. */
  readonly projectFiles?: readonly string[];
  /** Settings in a shared file that count as a project file: the file, and a text in it. */
  readonly projectSetting?: readonly [file: string, text: string];
};

/** The places where programs are looked for: the PATH and, if the user's settings say so, the project itself. */
export type ProgramSearch = {
  readonly folder: string;
  readonly path: readonly string[];
  readonly usesProjectPrograms: boolean;
};

/**
 * Finds a program on PATH. Programs inside the folder are code of the project, also those that PATH leads to: they count
 * only if the user has switched them on, and come first then. Folders above are never searched.
 */
export function findProjectProgram(command: string, search: ProgramSearch): string | undefined {
  const { folder, path, usesProjectPrograms } = search;
  if (usesProjectPrograms) {
    const local = findLocalProgram(command, folder);
    if (local !== undefined) return local;
  }
  const isUsable = (file: string) => hasAccess(file, 'execute') && (usesProjectPrograms || !isInside(file, folder));
  return path
    .filter(isAbsolute)
    .map((entry) => join(entry, command))
    .find(isUsable);
}

/** Finds a program in `node_modules/.bin` of the folder. */
export function findLocalProgram(command: string, folder: string): string | undefined {
  return [join(folder, 'node_modules/.bin', command)].find((file) => hasAccess(file, 'execute'));
}

/** Returns whether a program, or the file that it links to, is inside the folder. */
function isInside(file: string, folder: string): boolean {
  const real = join(realpathSync(dirname(file)), basename(file));
  return [file, real, realpathSync(file)].some((path) => isPathBelow(folder, path));
}

/** Returns whether a folder from that of the file up to that of the session has a file that makes the program one of the project. */
export function isProgramOfProject(
  { projectFiles, projectSetting }: ProjectCondition,
  file: string,
  folder: string,
): boolean {
  if (projectFiles === undefined) return true;
  return listFoldersAbove(dirname(file), folder).some((parent) => {
    if (projectFiles.some((name) => existsSync(join(parent, name)))) return true;
    return projectSetting !== undefined && hasText(join(parent, projectSetting[0]), projectSetting[1]);
  });
}

/** Lists a folder and those above it, up to `top`. */
function listFoldersAbove(folder: string, top: string): readonly string[] {
  const parent = dirname(folder);
  const isLast = folder === top || parent === folder || !isPathBelow(top, folder);
  return isLast ? [folder] : [folder, ...listFoldersAbove(parent, top)];
}

function hasText(file: string, text: string): boolean {
  try {
    return readRegularFileSync(file).toString('utf8').includes(text);
  } catch {
    return false;
  }
}
