import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// The tar of Git for Windows would take the drive of a path for a host.
const TAR = process.platform === 'win32' ? join(process.env.SystemRoot, 'System32', 'tar.exe') : 'tar';
const root = join(import.meta.dirname, '..');

/**
 * Returns the folder of a package in the version of the lock file: the installed one, or for another system one that npm
 * fetches and that is compared with the lock file.
 */
export function fetchPackage(name) {
  const installed = join(root, 'node_modules', name);
  if (existsSync(installed)) return installed;
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`${name} is not in package-lock.json.`);
  const folder = join(root, 'node_modules', '.cache', 'packages', `${name.replace('/', '-')}-${locked.version}`);
  if (existsSync(folder)) return folder;
  const unpacked = `${folder}-${process.pid}`;
  mkdirSync(unpacked, { recursive: true });
  try {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    run(npm, ['pack', '--silent', '--pack-destination', unpacked, `${name}@${locked.version}`]);
    const archive = join(unpacked, `${name.slice(1).replace('/', '-')}-${locked.version}.tgz`);
    const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (integrity !== locked.integrity) throw new Error(`${name} is not the package of package-lock.json.`);
    run(TAR, ['-xzf', archive, '-C', unpacked, '--strip-components=1']);
    rmSync(archive);
    renameSync(unpacked, folder);
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
  return folder;
}

/** Runs a program that has to succeed. */
function run(file, args) {
  const options = { encoding: 'utf8', cwd: root, shell: file.endsWith('.cmd') };
  const { status, stderr, error } = spawnSync(file, args, options);
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}
