import { basename } from 'node:path';
import type { Policy } from '../../contracts/permission.ts';
import { segmentTest } from './folder-scan.ts';
import { folded, isInside, type ResolvedPath } from './paths.ts';

const PROTECTED_FOLDERS = [
  '.git',
  '.vscode',
  '.idea',
  '.husky',
  '.claude',
  '.ouro',
  '.agents',
  '.cursor',
  '.codex',
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
];
const PROTECTED_FILES = [
  '.gitmodules',
  '.gitconfig',
  '.gitattributes',
  '.mcp.json',
  '.envrc',
  '.npmrc',
  '.pnpmrc',
  '.ripgreprc',
  '.netrc',
  '.pypirc',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.inputrc',
  '.vimrc',
  '.exrc',
  '.nvimrc',
  '.tmux.conf',
  '.screenrc',
  '.xinitrc',
  '.xprofile',
  '.login',
  '.cshrc',
  '.tcshrc',
  '.bunfig.toml',
  'bunfig.toml',
  '.yarnrc',
  '.yarnrc.yml',
  '.yarnrc.yaml',
  '.pre-commit-config.yaml',
];
const HOME_FOLDERS = [
  '.config',
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  '.docker',
  '.local/bin',
  '.local/share/systemd',
  'bin',
  'Library/LaunchAgents',
];
const SYSTEM_FOLDERS = [
  '/etc',
  '/bin',
  '/sbin',
  '/usr',
  '/lib',
  '/lib64',
  '/boot',
  '/dev',
  '/proc',
  '/sys',
  '/var/spool/cron',
  '/var/spool/at',
  '/opt',
  '/nix/store',
  '/Library',
  '/System',
  '/private/etc',
  '/root/.ssh',
];
const HARMLESS_DEVICES = ['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty', '/dev/fd/1', '/dev/fd/2'];

/** Why writing here asks in every mode, or `undefined`. Names are compared folded, in every spelling. */
export function protectedWrite(path: ResolvedPath, policy: Policy): string | undefined {
  if (HARMLESS_DEVICES.includes(path.real)) return undefined;
  for (const place of new Set([path.lexical, path.real])) {
    const reason = protectedPlace(folded(place), policy);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function protectedPlace(place: string, policy: Policy): string | undefined {
  const { notesFolder } = policy;
  if (notesFolder !== undefined && place.endsWith('.md') && isInside(place, folded(notesFolder))) return undefined;
  const ours = policy.protectedPaths.find((guarded) => isInside(place, folded(guarded)));
  if (ours !== undefined) return `${ours} holds settings of ouro itself`;
  const parts = place.split('/').map(trimmedName);
  const folder = parts.find((part) => PROTECTED_FOLDERS.includes(part) || /^git~\d+$/.test(part));
  if (folder !== undefined) return `what is in ${folder} decides what other programs run`;
  const name = parts.at(-1) ?? '';
  if (PROTECTED_FILES.includes(name) || name.startsWith('.yarnrc')) return `${name} decides what other programs run`;
  if (name === 'crontab') return 'a crontab decides what runs later';
  const guards = (folder: string) =>
    isInside(place, folder) && !policy.workspaceRoots.some((root) => isInside(folded(root), folder));
  const atHome = HOME_FOLDERS.find((part) => guards(folded(`${policy.home}/${part}`)));
  if (atHome !== undefined) return `~/${atHome} decides what other programs run`;
  const system = SYSTEM_FOLDERS.find(guards);
  return system === undefined ? undefined : `${system} belongs to the system`;
}

/** A folder of the system that lies in this one, if any. */
export function systemInside(folder: string): string | undefined {
  return SYSTEM_FOLDERS.find((each) => each !== folder && isInside(each, folder));
}

/** Of a process, what holds its variables and all it has in memory: keys among them. */
export const PROCESS_SECRETS = ['environ', 'mem'];
const PROCESS_FOLDER = /^\/(?:proc(?:\/[^/]+(?:\/task(?:\/[^/]+)?)?)?)?$/;

/** Why reading this asks in every mode, or `undefined`: below /proc, in every spelling that could stand for it. */
export function processRead(path: ResolvedPath): string | undefined {
  const held = [path.lexical, path.real].some((place) => {
    const name = place.startsWith('/proc/') ? basename(place) : '';
    return /[$`]/.test(name) || PROCESS_SECRETS.some((secret) => segmentTest(name)(secret));
  });
  return held ? PROCESS_HOLDS : undefined;
}

/** The files of that kind a search through the folder comes by. */
export function processSecretsIn(folder: string): readonly string[] {
  return PROCESS_FOLDER.test(folder)
    ? PROCESS_SECRETS.map((name) => `${folder === '/' ? '/proc' : folder}/${name}`)
    : [];
}

export const PROCESS_HOLDS = 'it holds the keys and variables of a process';

/** Some disks drop trailing dots and spaces, and alternate streams follow a colon. */
export function trimmedName(part: string): string {
  return part.replace(/:.*$/, '').replace(/[. ]+$/, (tail) => (part === tail ? tail : ''));
}
