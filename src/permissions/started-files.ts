import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { listFolderNames, resolveRealPath } from '../lib/files/read-or-default.ts';
import type { ProgramStart } from '../lib/processes/program-check.ts';
import {
  describeProgramFile,
  listProgramFiles,
  listStartPlaces,
  type ProgramFile,
} from '../lib/programs/program-files.ts';
import type { GitConfigEntry } from '../lib/text/git-config.ts';
import { splitWords } from '../lib/text/lines.ts';
import { diskFs } from './permission-fs.ts';
import {
  findCommandConfigKey,
  findRepositoryTop,
  parsePathLine,
  readGitConfig,
  readTextFile,
  resolveGitFolders,
  resolveGitPath,
} from './shell/programs/git-repository.ts';

/** Programs that start git, besides those with its name as a part of theirs: `git-lfs`, `mcp-server-git`. */
const GIT_CLIENTS = splitWords(
  'gh glab hub tea tig lazygit gitui jj pre-commit lefthook husky lint-staged semantic-release',
);

const startsGit = (name: string) => /(?:^|[-_@])git(?:$|[-_@])/.test(name) || GIT_CLIENTS.includes(name);

/** Lists the files that a start runs and that others can change: those it names, and what git would start. */
export const listStartedFiles = (
  start: ProgramStart,
  isChangeable: (path: string) => boolean,
): readonly ProgramFile[] => [...listProgramFiles(start, isChangeable), ...listGitPrograms(start, isChangeable)];

/**
 * Lists what git would start by the repositories that a start works in: configuration that names programs, and hooks. A
 * configuration is hashed by the entries that name programs, since git changes others with every new branch.
 */
function listGitPrograms(start: ProgramStart, isChangeable: (path: string) => boolean): readonly ProgramFile[] {
  const { words, folders } = listStartPlaces(start);
  if (!words.some((word) => startsGit(basename(word)))) return [];
  const tops = folders.flatMap((folder) => findRepositoryTop(diskFs, folder) ?? []);
  const found = [
    ...tops.flatMap((top) => resolveGitFolders(diskFs, top) ?? listIrregularFolders(join(top, '.git'))),
    // A bare repository, or a folder that `--git-dir` names.
    ...folders.filter((folder) => listFolderNames(folder).includes('HEAD')),
  ];
  return [...new Set(found)]
    .flatMap((folder) => listFolderPrograms(folder, tops))
    .filter(({ path, real }) => isChangeable(path) || isChangeable(real));
}

/** Lists the folders that git may take for those of a repository which is not as git leaves it. */
function listIrregularFolders(dotGit: string): readonly string[] {
  const target = parsePathLine(readTextFile(diskFs, dotGit), 'gitdir: ');
  const folder = target === undefined ? dotGit : resolveGitPath(diskFs, dirname(dotGit), target).real;
  const common = parsePathLine(readTextFile(diskFs, join(folder, 'commondir')), '');
  return [folder, ...(common === undefined ? [] : [resolveGitPath(diskFs, folder, common).real])];
}

function listFolderPrograms(folder: string, tops: readonly string[]): readonly ProgramFile[] {
  const real = resolveRealPath(folder);
  const configs = ['config', 'config.worktree'].flatMap((name) => {
    const path = join(real, name);
    const entries = readGitConfig(diskFs, path);
    return typeof entries === 'string'
      ? (describeProgramFile(path) ?? [])
      : [...describeConfig(path, entries), ...listConfiguredFiles(path, entries, tops)];
  });
  return [...configs, ...describeHooks(join(real, 'hooks'))];
}

function describeConfig(path: string, entries: readonly GitConfigEntry[]): readonly ProgramFile[] {
  const steering = entries.filter((entry) => findCommandConfigKey(entry) !== undefined);
  return steering.length === 0
    ? []
    : [{ path, real: path, hash: hashTexts(steering.map((entry) => JSON.stringify(entry))) }];
}

/** Lists the hooks of another folder, and included configuration, that a configuration names. */
function listConfiguredFiles(
  path: string,
  entries: readonly GitConfigEntry[],
  tops: readonly string[],
): readonly ProgramFile[] {
  return entries.flatMap(({ section, name, value = '' }) => {
    if (section === 'core' && name === 'hookspath') return tops.flatMap((top) => describeHooks(resolve(top, value)));
    if (/^include(?:if)?$/.test(section) && name === 'path')
      return describeProgramFile(resolve(path, '..', value)) ?? [];
    return [];
  });
}

/** Describes the hooks of a folder as one program. */
function describeHooks(folder: string): readonly ProgramFile[] {
  const hooks = listFolderNames(folder)
    .toSorted()
    .filter((name) => !name.endsWith('.sample'))
    .map((name) => describeProgramFile(join(folder, name)))
    .filter((file) => file !== undefined && isExecutable(file.real));
  const real = resolveRealPath(folder);
  return hooks.length === 0 ? [] : [{ path: real, real, hash: hashTexts(hooks.map((file) => JSON.stringify(file))) }];
}

const isExecutable = (path: string) => process.platform === 'win32' || (statSync(path).mode & 0o111) !== 0;

const hashTexts = (texts: readonly string[]) => createHash('sha256').update(texts.join('\n')).digest('hex');

/** Describes a stored program of git as it is now: the configuration of a repository, or a folder of hooks. */
export const describeGitProgram = (path: string): readonly ProgramFile[] =>
  isFolder(path)
    ? describeHooks(path)
    : listFolderPrograms(dirname(path), []).filter((program) => program.path === path);

/** Returns whether a stored path is the configuration of a repository, or a folder of hooks. */
export const isGitProgram = (path: string): boolean =>
  isFolder(path) || (/^config(?:\.worktree)?$/.test(basename(path)) && listFolderNames(dirname(path)).includes('HEAD'));

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
