import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { isPathBelow } from '../lib/files/path-style.ts';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';

/** The condition under which a language server or a formatter belongs to a project. */
export type ProjectCondition = {
  /** Files of a project, one of which must be in a folder above a file; absent: every project. */
  readonly projectFiles?: readonly string[];
  /** Settings in a shared file that count as a project file: the file, and a text in it. */
  readonly projectSetting?: readonly [file: string, text: string];
};

/** Finds a program in `node_modules/.bin` of the folder or of one above it, else on PATH. */
export function findProjectProgram(command: string, folder: string, path: readonly string[]): string | undefined {
  const local = listFoldersAbove(folder, '/').map((parent) => join(parent, 'node_modules/.bin'));
  return [...local, ...path.filter(isAbsolute)].map((entry) => join(entry, command)).find(isExecutable);
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

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function hasText(file: string, text: string): boolean {
  try {
    return readRegularFileSync(file).toString('utf8').includes(text);
  } catch {
    return false;
  }
}
