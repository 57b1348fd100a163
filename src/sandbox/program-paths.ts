import { closeSync, type Dirent, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { findToolchain } from './home-paths.ts';
import { getPathKind, lstatIfReachable, resolveAllLinks } from './host-paths.ts';

/** Returns what programs on PATH need besides the folders that are shown already. The paths may be links. */
export type FindProgramPaths = (shown: readonly string[]) => readonly string[];

/** The paths that the entries of a folder lead to, as of its last change. */
type KnownFolder = {
  readonly stamp: number;
  readonly installation: readonly string[];
  readonly targets: readonly string[];
};

/**
 * Creates the search for programs whose files are elsewhere: the folders of PATH, where their links lead, and the
 * interpreters that scripts name. A folder is read again only when it changes.
 */
export function createProgramPathFinder({ path, home }: Pick<Environment, 'path' | 'home'>): FindProgramPaths {
  const known = new Map<string, KnownFolder>();

  function readKnown(folder: string): KnownFolder {
    const stamp = lstatIfReachable(folder)?.mtimeMs;
    if (stamp === undefined) return { stamp: 0, installation: [], targets: [] };
    const last = known.get(folder);
    if (last?.stamp === stamp) return last;
    const content = {
      stamp,
      installation: listInstallation(folder, home),
      targets: [...new Set(readTargets(folder))],
    };
    known.set(folder, content);
    return content;
  }

  return (shown) => {
    const isCovered = (target: string) => shown.some((folder) => isPathInside(target, folder));
    const all = path.filter(isAbsolute).flatMap((folder) => {
      const real = resolveAllLinks(folder);
      const { installation, targets } = readKnown(real);
      return [
        folder,
        ...(isCovered(real) ? [] : installation),
        ...targets.filter((target) => !isCovered(target)).flatMap((target) => listProgram(target, home)),
      ];
    });
    return [...new Set(all)].filter((found) => !isCovered(found) || found !== resolveAllLinks(found));
  };
}

const SYSTEM_PROGRAMS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** Lists where the links of a folder lead, and the interpreters of its scripts unless it is one of the system. */
function readTargets(folder: string): readonly string[] {
  const isSystem = SYSTEM_PROGRAMS.includes(folder);
  return listEntries(folder).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (!entry.isSymbolicLink()) return entry.isFile() && !isSystem ? listInterpreter(file) : [];
    const target = resolve(folder, readlinkSync(file));
    const real = resolveAllLinks(target);
    return isPathInside(real, '/usr') ? [] : [target, real, ...(isSystem ? [] : listInterpreter(real))];
  });
}

function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Unreadable: nothing in it can be started.
    return [];
  }
}

const MAX_INTERPRETER_CHARS = 256;

function listInterpreter(file: string): readonly string[] {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const head = Buffer.alloc(MAX_INTERPRETER_CHARS);
    const text = head.toString('latin1', 0, readSync(descriptor, head));
    const program = /^#! *(\/\S+)/.exec(text)?.[1];
    return program === undefined || isPathInside(program, '/usr') ? [] : [program, resolveAllLinks(program)];
  } catch {
    return [];
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function listProgram(target: string, home: string): readonly string[] {
  const [, ...installation] = listInstallation(dirname(resolveAllLinks(target)), home);
  return [target, ...installation];
}

/** Names of the folders in which an installation keeps its programs, and of those beside them. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'libexec', 'shims', 'condabin'];
const BESIDE_PROGRAMS = ['lib', 'lib64', 'libexec', 'share', 'include', 'conda-meta', 'pkg', 'conf'];
/** Entries that only the folder of a project has. */
const OF_PROJECTS = ['.git', '.env', '.hg', 'package.json', 'pyproject.toml', 'Cargo.toml', 'go.mod', 'Makefile'];

/**
 * Returns a folder of programs, with the whole installation around it if it looks like one: a project that has a folder
 * of scripts stays hidden.
 */
function listInstallation(folder: string, home: string): readonly string[] {
  const toolchain = findToolchain(folder);
  if (toolchain !== undefined) return [folder, toolchain];
  const prefix = dirname(folder);
  const has = (name: string) => getPathKind(join(prefix, name)) !== 'missing';
  if (basename(folder) === '.bin' && basename(prefix) === 'node_modules') return [folder, prefix];
  const isInstallation =
    PROGRAM_FOLDERS.includes(basename(folder)) &&
    !isPathInside(resolveAllLinks(home), prefix) &&
    BESIDE_PROGRAMS.some(has) &&
    !OF_PROJECTS.some(has);
  return isInstallation ? [folder, prefix] : [folder];
}
