import { basename } from 'node:path/posix';
import type { Policy } from '../../contracts/permission.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { isPathInside, normalizePathCase, type ResolvedPath } from '../resolve-path.ts';
import { createGlobSegmentTest } from './folder-scan.ts';
import {
  AUTO_RUN_FILES,
  AUTO_RUN_FOLDERS,
  AUTO_RUN_PATTERN,
  PROTECTED_FILES,
  PROTECTED_FOLDERS,
} from './program-files.ts';

const HOME_FOLDERS = splitWords(`
  .config .ssh .aws .gnupg .kube .docker .local/bin .local/share/systemd bin Library/LaunchAgents AppData/Roaming
  AppData/Local/Microsoft Documents/PowerShell Documents/WindowsPowerShell
`);
const SYSTEM_FOLDERS = [
  ...splitWords(`
    /etc /bin /sbin /usr /lib /lib64 /boot /dev /proc /sys /var/spool/cron /var/spool/at /opt /nix/store /Library
    /System /private/etc /root/.ssh /c/Windows /c/ProgramData
  `),
  '/c/Program Files',
  '/c/Program Files (x86)',
];
const HARMLESS_DEVICES = ['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty', '/dev/fd/1', '/dev/fd/2'];

/** Returns the reason why writing a path always needs approval; undefined if it does not. Case is ignored. */
export function getProtectedWriteReason(path: ResolvedPath, policy: Policy): string | undefined {
  if (HARMLESS_DEVICES.includes(path.real)) return undefined;
  for (const form of new Set([path.lexical, path.real])) {
    const reason = findProtection(normalizePathCase(form), policy);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function findProtection(path: string, policy: Policy): string | undefined {
  const { notesFolder } = policy;
  if (notesFolder !== undefined && path.endsWith('.md') && isPathInside(path, normalizePathCase(notesFolder)))
    return undefined;
  const protectedPath = policy.protectedPaths.find((candidate) => isPathInside(path, normalizePathCase(candidate)));
  if (protectedPath !== undefined) return `${protectedPath} holds files of ouro`;
  const parts = path.split('/').map(stripIgnoredNameSuffix);
  const folder = parts.find((part) => PROTECTED_FOLDERS.includes(part) || /^git~\d+$/.test(part));
  if (folder !== undefined) return `files in ${folder} decide what other programs run`;
  const name = parts.at(-1) ?? '';
  if (PROTECTED_FILES.includes(name) || name.startsWith('.yarnrc')) return `${name} decides what other programs run`;
  if (name === 'crontab') return 'a crontab decides what runs later';
  const contains = (folder: string) =>
    isPathInside(path, folder) && !policy.workspaceRoots.some((root) => isPathInside(normalizePathCase(root), folder));
  const homeFolder = HOME_FOLDERS.find((part) => contains(normalizePathCase(`${policy.home}/${part}`)));
  if (homeFolder !== undefined) return `~/${homeFolder} decides what other programs run`;
  const system = SYSTEM_FOLDERS.find((folder) => contains(normalizePathCase(folder)));
  return system === undefined ? undefined : `${system} belongs to the system`;
}

/** Finds a folder of the system below the given one. */
export function findSystemFolderInside(folder: string): string | undefined {
  return SYSTEM_FOLDERS.find((candidate) => candidate !== folder && isPathInside(candidate, folder));
}

/** Files of a process in /proc that expose its environment and memory. */
export const PROCESS_SECRET_FILES = ['environ', 'mem'];
const PROCESS_FOLDER = /^\/(?:proc(?:\/[^/]+(?:\/task(?:\/[^/]+)?)?)?)?$/;

/** Returns the reason why reading a path always needs approval: it may be such a file below /proc, in any spelling. */
export function getProcessSecretFileReason(path: ResolvedPath): string | undefined {
  const exposesProcess = [path.lexical, path.real].some((form) => {
    if (!form.startsWith('/proc/')) return false;
    const name = basename(form);
    return /[$`]/.test(name) || PROCESS_SECRET_FILES.some((secret) => createGlobSegmentTest(name)(secret));
  });
  return exposesProcess ? PROCESS_SECRET_REASON : undefined;
}

/** Returns the process files that a recursive search of the folder would read. */
export function listProcessSecretFiles(folder: string): readonly string[] {
  return PROCESS_FOLDER.test(folder)
    ? PROCESS_SECRET_FILES.map((name) => `${folder === '/' ? '/proc' : folder}/${name}`)
    : [];
}

/** The reason why process files need approval. */
export const PROCESS_SECRET_REASON = 'it holds the keys and variables of a process';

/** Strips trailing dots and spaces, which some file systems ignore, and the name of an alternate data stream. */
export function stripIgnoredNameSuffix(part: string): string {
  return part.replace(/:.*$/s, '').replace(/(?<![. ])[. ]+$/, (tail) => (part === tail ? tail : ''));
}

/** Returns the reason why other programs run or follow a file, so that acceptEdits mode asks; undefined otherwise. */
export function getAutoRunReason(
  path: ResolvedPath,
  roots: readonly string[],
  frozen: readonly string[] = [],
): string | undefined {
  if (frozen.some((file) => file === path.real || file === path.lexical))
    return 'ouro starts it as it was approved, so a change has to be approved again';
  for (const form of new Set([path.lexical, path.real])) {
    // The workspace itself may be inside such a folder.
    const root = roots.find((candidate) => isPathInside(form, candidate)) ?? '';
    const parts = normalizePathCase(form.slice(root.length)).split('/').map(stripIgnoredNameSuffix);
    const name = basename(parts.join('/'));
    const folder = parts.slice(0, -1).find((part) => AUTO_RUN_FOLDERS.has(part));
    if (folder !== undefined) return `other programs run or follow files in ${folder}`;
    if (AUTO_RUN_FILES.has(name) || AUTO_RUN_FOLDERS.has(name) || AUTO_RUN_PATTERN.test(name))
      return `other programs run or follow ${name}`;
  }
  return undefined;
}
