import { execFile } from 'node:child_process';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Everything below a folder, byte by byte and bit by bit; git's own files aside. */
export async function picture(folder: string): Promise<Readonly<Record<string, string>>> {
  const seen: Record<string, string> = {};
  async function visit(path: string, name: string): Promise<void> {
    for (const entry of (await readdir(path)).sort()) {
      if (entry === '.git') continue;
      const full = join(path, entry);
      const stat = await lstat(full);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) seen[name + entry] = `link ${await readlink(full)}`;
      else if (stat.isDirectory()) {
        seen[`${name}${entry}/`] = mode;
        await visit(full, `${name}${entry}/`);
      } else seen[name + entry] = `${mode} ${(await readFile(full)).toString('base64')}`;
    }
  }
  await visit(folder, '');
  return seen;
}

/** Runs a line as the shell tool would; that it fails is none of our business. */
export async function shell(line: string, cwd: string, home: string): Promise<void> {
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'T',
    GIT_AUTHOR_EMAIL: 't@example.com',
    GIT_COMMITTER_NAME: 'T',
    GIT_COMMITTER_EMAIL: 't@example.com',
  };
  await promisify(execFile)('/bin/bash', ['--noprofile', '--norc', '-c', line], { cwd, env }).catch(() => undefined);
}
