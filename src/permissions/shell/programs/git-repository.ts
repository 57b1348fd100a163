import { dirname, join } from 'node:path/posix';
import { type GitConfigEntry, parseGitConfig } from '../../../lib/text/git-config.ts';
import { splitWords } from '../../../lib/text/lines.ts';
import type { PermissionFs } from '../../permission-fs.ts';
import { type ResolvedPath, resolvePath } from '../../resolve-path.ts';

/** The result of the check, with the reason if git must not run without approval. */
type GitRepositoryCheck = { readonly ok: true } | { readonly ok: false; readonly problem: string };

type FindKey = (entry: GitConfigEntry) => string | undefined;

/** Checks if git could run a program here. Parses the configuration itself: git would already run what it names. */
export function checkGitRepositorySafety(
  fs: PermissionFs,
  cwd: string,
  root: string,
  findKey: FindKey = findCommandConfigKey,
): GitRepositoryCheck {
  const repository = findRepository(fs, cwd);
  const workspaceRepository = findRepository(fs, root);
  if (repository === 'bare' || workspaceRepository === 'bare')
    return reject('The folder or one of its parents looks like a bare repository.');
  if (repository === undefined) return { ok: true };
  if (repository !== workspaceRepository) return reject(`${repository} is not the repository of the workspace.`);
  const problem =
    findRepositoryProblem(fs, repository, findKey) ??
    findSubmoduleProblem(fs, repository) ??
    findOuterProblem(fs, repository, findKey);
  return problem === undefined ? { ok: true } : reject(problem);
}

function reject(problem: string): GitRepositoryCheck {
  return { ok: false, problem };
}

/** Returns the reason why git could run a program in the repository with this top folder. */
function findRepositoryProblem(fs: PermissionFs, top: string, findKey: FindKey): string | undefined {
  const folders = resolveGitFolders(fs, top);
  if (folders === undefined) return `${top}/.git points to another location or is not a regular repository.`;
  for (const folder of folders) {
    for (const file of ['config', 'config.worktree']) {
      const path = join(folder, file);
      const entries = readGitConfig(fs, path);
      if (typeof entries === 'string') return entries;
      const key = entries.map(findKey).find((candidate) => candidate !== undefined);
      if (key !== undefined) return `${key} in ${path} could make git run a program.`;
    }
  }
  return undefined;
}

/** Git reads a submodule, with its own configuration, if .gitmodules says so, whatever the environment sets. */
function findSubmoduleProblem(fs: PermissionFs, top: string): string | undefined {
  const path = join(top, '.gitmodules');
  // Without the file, git uses the version in its index.
  const index = fs.lstat(path) === undefined ? listTrackedFiles(fs, top) : undefined;
  if (index?.includes('.gitmodules') === true)
    return `${path} is missing, so the submodules that git reads are unknown.`;
  const entries = readGitConfig(fs, path);
  if (typeof entries === 'string') return entries;
  return entries.some(({ name }) => name === 'ignore')
    ? `${path} makes git read submodules, which have their own configuration.`
    : undefined;
}

/** Returns the top folder of the repository that a folder belongs to. */
export function findRepositoryTop(fs: PermissionFs, cwd: string): string | undefined {
  const found = findRepository(fs, cwd);
  return found === 'bare' ? undefined : found;
}

/** Returns the files that a repository tracks, or `undefined` if its index cannot be read reliably. */
export function listTrackedFiles(fs: PermissionFs, top: string): readonly string[] | undefined {
  const [folder] = resolveGitFolders(fs, top) ?? [];
  const path = folder === undefined ? undefined : join(folder, 'index');
  if (path === undefined || !['file', undefined].includes(fs.lstat(path)?.kind)) return undefined;
  return parseGitIndex(fs.readBytes(path));
}

/** Git skips a `.git` that it does not accept and uses the next one above, so that one must not run anything either. */
function findOuterProblem(fs: PermissionFs, top: string, findKey: FindKey): string | undefined {
  if (top === dirname(top)) return undefined;
  const outer = findRepository(fs, dirname(top));
  if (outer === undefined) return undefined;
  if (outer === 'bare') return `A folder above ${top} looks like a bare repository.`;
  return findRepositoryProblem(fs, outer, findKey) ?? findOuterProblem(fs, outer, findKey);
}

/** Returns the entries of a configuration file, none if it is missing, or the reason why they are unknown. */
export function readGitConfig(fs: PermissionFs, path: string): readonly GitConfigEntry[] | string {
  const kind = fs.lstat(path)?.kind;
  if (kind === undefined) return [];
  if (kind !== 'file') return `${path} is a link or not a file, so the configuration is unknown.`;
  const text = readTextFile(fs, path);
  if (text === undefined) return `${path} cannot be read.`;
  const config = parseGitConfig(text);
  return config.ok ? config.entries : `${path} cannot be parsed reliably: ${config.problem}.`;
}

/** Reads a file; `undefined` if it cannot be read. */
export function readTextFile(fs: PermissionFs, path: string): string | undefined {
  try {
    return fs.readFile(path);
  } catch {
    return undefined;
  }
}

/** Returns the folder whose `.git` git would use; `bare` if a folder on the way up could itself be the repository. */
function findRepository(fs: PermissionFs, from: string): string | 'bare' | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const has = (name: string) => fs.lstat(join(folder, name)) !== undefined;
    if (has('.git')) return folder;
    if (has('HEAD') && (has('commondir') || (has('objects') && has('refs')))) return 'bare';
    if (folder === dirname(folder)) return undefined;
  }
}

/** Returns the git folder and, for a linked worktree, the common one. Links and irregular folders are refused. */
export function resolveGitFolders(fs: PermissionFs, root: string): readonly string[] | undefined {
  const dotGit = join(root, '.git');
  const kind = fs.lstat(dotGit)?.kind;
  if (kind === 'directory') return isRegularRepository(fs, dotGit) ? [dotGit] : undefined;
  if (kind !== 'file') return undefined;
  const target = parsePathLine(readTextFile(fs, dotGit), 'gitdir: ');
  if (target === undefined) return undefined;
  const folder = resolveGitPath(fs, root, target);
  if (folder.problem !== undefined || folder.kind !== 'directory') return undefined;
  if (fs.lstat(join(folder.real, 'commondir')) === undefined)
    return isRegularRepository(fs, folder.real) ? [folder.real] : undefined;
  const common = parsePathLine(readTextFile(fs, join(folder.real, 'commondir')), '');
  if (common === undefined) return undefined;
  const commonFolder = resolveGitPath(fs, folder.real, common);
  return commonFolder.problem === undefined && isRegularRepository(fs, commonFolder.real)
    ? [folder.real, commonFolder.real]
    : undefined;
}

/** Resolves a path in a file of git, where `~` is a name like any other. */
export function resolveGitPath(fs: PermissionFs, folder: string, path: string): ResolvedPath {
  return resolvePath(fs, { cwd: folder, home: folder }, path.startsWith('~') ? `./${path}` : path);
}

/** True if a folder contains everything that git requires of a repository. */
function isRegularRepository(fs: PermissionFs, folder: string): boolean {
  const getKind = (name: string) => fs.lstat(join(folder, name))?.kind;
  return (
    getKind('commondir') === undefined &&
    getKind('config') === 'file' &&
    getKind('objects') === 'directory' &&
    getKind('refs') === 'directory' &&
    getKind('HEAD') === 'file' &&
    /^(?:ref: refs\/|[0-9a-f]{40})/.test(readTextFile(fs, join(folder, 'HEAD')) ?? '')
  );
}

/** Parses a file with a single path. Trailing spaces belong to the path. */
export function parsePathLine(text: string | undefined, prefix: string): string | undefined {
  if (text?.startsWith(prefix) !== true) return undefined;
  const path = text.slice(prefix.length).replace(/(?<![\r\n])[\r\n]+$/, '');
  return path === '' || /[\0-\x1f]/.test(path) ? undefined : path;
}

/** Sections in which most keys name programs or further configuration files. */
const PROGRAM_SECTIONS = new Set(
  splitWords(
    'pager filter alias include includeif difftool mergetool merge-driver interactive sequence uploadpack man instaweb browser guitool hook trailer',
  ),
);

/** Keys, by section and whatever the subsection, that start a program or make git read a path they name. */
const PROGRAM_KEYS: Readonly<Record<string, RegExp>> = {
  core: /^(?:pager|sshcommand|editor|askpass|gitproxy|worktree|alternaterefscommand|attributesfile|excludesfile)$/,
  diff: /^(?:external|command|textconv|tool|guitool|orderfile|submodule)$/,
  merge: /^(?:driver|tool|guitool)$/,
  submodule: /^(?:ignore|recurse|update)$/,
  status: /^submodulesummary$/,
  gpg: /^(?:program|defaultkeycommand)$/,
  credential: /^helper$/,
  log: /^(?:showsignature|diffmerges)$/,
  extensions: /^partialclone$/,
  remote: /^(?:promisor|uploadpack|receivepack|vcs)$/,
  // The filter of git-lfs, set up in the user's configuration, runs what the repository names here.
  lfs: /^(?:clean|smudge|path|standalonetransferagent)$/,
};

/** Returns the key of an entry if it can start a program or include more configuration. */
export function findCommandConfigKey({ section, subsection, name, value }: GitConfigEntry): string | undefined {
  const key = [section, ...(subsection === undefined ? [] : [subsection]), name].join('.');
  if (key === 'core.fsmonitor') return /^(?:true|false|0|1|yes|no|on|off)$/i.test(value ?? 'true') ? undefined : key;
  const isFormat = (section === 'format' && name === 'pretty') || section === 'pretty';
  // Git checks a signature with another program.
  if (isFormat && value?.includes('%G') === true) return key;
  return PROGRAM_SECTIONS.has(section) ||
    (Object.hasOwn(PROGRAM_KEYS, section) && PROGRAM_KEYS[section]?.test(name) === true)
    ? key
    : undefined;
}

/** Keys that clones and people set, which name no program and no file that git reads. */
const HARMLESS_KEY =
  /^(?:user\.(?:name|email|signingkey)|(?:author|committer)\.(?:name|email)|core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|untrackedcache|fsmonitor|hookspath)|remote\.(?:url|pushurl|fetch|tagopt|prune|gh-resolved)|branch\.(?:remote|merge|pushremote|rebase|description)|init\.defaultbranch|extensions\.(?:objectformat|worktreeconfig)|(?:color|advice|gc|pull|push|fetch|rebase|rerere)\.[a-z]+|(?:commit|tag)\.gpgsign|diff\.(?:algorithm|renames|colormoved)|merge\.(?:conflictstyle|ff)|submodule\.(?:active|url))$/;

/**
 * Returns the key of an entry unless it is known to be harmless, for a folder without trust. Its attributes
 * only choose between drivers: those of the repository are refused here, others are the user's.
 */
export function findUnlistedConfigKey(entry: GitConfigEntry): string | undefined {
  const { section, subsection, name } = entry;
  const key = [section, ...(subsection === undefined ? [] : [subsection]), name].join('.');
  // Hooks are disabled for commands that only read.
  return findCommandConfigKey(entry) ?? (HARMLESS_KEY.test(`${section}.${name}`) ? undefined : key);
}

/** Sections and keys that only affect what git displays or interactive use. */
const DISPLAY_KEYS = splitWords(
  'pager. alias. difftool. mergetool. guitool. merge-driver. man. instaweb. browser. interactive. sequence. trailer. diff. merge. gpg. log. status. format. pretty. submodule. core.pager core.editor core.excludesfile',
);

/** Returns the key of an entry that can start a program while git writes files, not only while it prints. */
export function findCheckoutCommandConfigKey(entry: GitConfigEntry): string | undefined {
  const key = findCommandConfigKey(entry);
  const isPartialClone = entry.section === 'extensions' || entry.name === 'promisor';
  return isPartialClone || DISPLAY_KEYS.some((prefix) => key?.startsWith(prefix) === true) ? undefined : key;
}

const ENTRY_HEADER_BYTES = 62;
const SUBMODULE_MODE = 0o160000;
const FOLDER_MODE = 0o040000;

/** Parses a git index into the names of tracked files; `undefined` for other or incomplete formats. */
function parseGitIndex(bytes: Uint8Array | undefined): readonly string[] | undefined {
  if (bytes === undefined) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || decodeText(bytes, 0, 4) !== 'DIRC' || ![2, 3].includes(view.getUint32(4))) return undefined;
  const files: string[] = [];
  let offset = 12;
  for (let remaining = view.getUint32(8); remaining > 0; remaining -= 1) {
    if (offset + ENTRY_HEADER_BYTES > bytes.length) return undefined;
    const mode = view.getUint32(offset + 24);
    const start = offset + ENTRY_HEADER_BYTES + (view.getUint16(offset + 60) & 0x4000 ? 2 : 0);
    const end = bytes.indexOf(0, start);
    if (end === -1 || mode === FOLDER_MODE) return undefined;
    if (mode !== SUBMODULE_MODE) files.push(decodeText(bytes, start, end));
    offset += Math.ceil((end - offset + 1) / 8) * 8;
  }
  return hasAllEntries(bytes, view, offset) ? files : undefined;
}

/** A `link` extension means that another file holds further entries. */
function hasAllEntries(bytes: Uint8Array, view: DataView, start: number): boolean {
  const end = bytes.length - 20;
  let offset = start;
  while (offset + 8 <= end) {
    if (decodeText(bytes, offset, offset + 4) === 'link' || decodeText(bytes, offset, offset + 4) === 'sdir')
      return false;
    offset += 8 + view.getUint32(offset + 4);
  }
  return offset === end;
}

function decodeText(bytes: Uint8Array, from: number, to: number): string {
  return new TextDecoder().decode(bytes.subarray(from, to));
}
