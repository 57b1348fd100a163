import { expect, test } from 'vitest';
import { foldersToMake, type SandboxPlan, sandboxArguments } from '../../src/sandbox/recipe.ts';

const KINDS: Readonly<Record<string, 'directory' | 'file'>> = {
  '/w': 'directory',
  '/w/.git': 'directory',
  '/w/.git/hooks': 'directory',
  '/w/.git/config': 'file',
  '/w/.claude': 'directory',
  '/w/.mcp.json': 'file',
  '/home/me/.ssh': 'directory',
  '/home/me/.netrc': 'file',
  '/home/me/.ouro': 'directory',
  '/home/me/.ouro/s': 'directory',
  '/w/secret': 'directory',
  '/w/secret.txt': 'file',
  '/cache': 'directory',
};

const PLAN: SandboxPlan = {
  roots: ['/w'],
  allowWrite: ['/cache', '/gone'],
  denyRead: ['/w/secret', '/w/secret.txt'],
  home: '/home/me',
  ouroHome: '/home/me/.ouro',
  sessionFolder: '/home/me/.ouro/s',
  network: 'none',
  user: 'plain',
  kindOf: (path) => KINDS[path] ?? 'missing',
  follow: (path) => path,
};

/** The mounts in their order, one word each. */
function mounts(plan: SandboxPlan): readonly string[] {
  const words = sandboxArguments(plan);
  return words.flatMap((word, at) => {
    if (word === '--bind') return [`write ${words[at + 1]}`];
    if (word === '--ro-bind') return [`${words[at + 1] === '/dev/null' ? 'hide' : 'read'} ${words[at + 2]}`];
    return word === '--tmpfs' ? [`empty ${words[at + 1]}`] : [];
  });
}

test('everything is read-only but the workspace; repository guards, credentials and denied reads lie on top', () => {
  expect(mounts(PLAN)).toEqual([
    'read /',
    'empty /tmp',
    'empty /run',
    'write /w',
    'write /cache',
    'write /w/.git',
    'read /w/.git/hooks',
    'read /w/.git/config',
    'read /w/.claude',
    'read /w/.mcp.json',
    'empty /home/me/.ouro',
    'read /home/me/.ouro/s',
    'empty /home/me/.ssh',
    'hide /home/me/.netrc',
    'empty /w/secret',
    'hide /w/secret.txt',
  ]);
});

test('no network unless it is asked for, no rights to mount anew, and it dies with us', () => {
  expect(sandboxArguments(PLAN)).toEqual(
    expect.arrayContaining(['--unshare-net', '--unshare-pid', '--die-with-parent', '--new-session', '--cap-drop']),
  );
  expect(sandboxArguments(PLAN)).not.toContain('--cap-add');
  expect(sandboxArguments({ ...PLAN, network: 'open', user: 'root' })).toEqual(
    expect.not.arrayContaining(['--unshare-net']),
  );
  expect(sandboxArguments(PLAN).at(-1)).toBe('--');
});

test('a folder of settings that is not there yet is made first, so that it can be guarded', () => {
  expect(foldersToMake(PLAN)).toEqual([]);
  expect(foldersToMake({ ...PLAN, roots: ['/w', '/cache'] })).toEqual(['/cache/.claude']);
});
