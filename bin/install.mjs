import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { holdingLock } from './install-lock.mjs';
import { createPackageCounter, listPackages, showProgress } from './install-progress.mjs';
import { findRuntime } from './runtime.mjs';

/** Returns the path of a working runtime, after installing the libraries if the lock file has changed. */
export async function ensureInstalled(root, afterwards) {
  const lockFile = join(root, 'package-lock.json');
  if (!existsSync(lockFile)) return findRuntime(root);
  return readStamp(root, lockFile) ?? holdingLock(join(root, '.installing'), () => install(root, lockFile, afterwards));
}

async function install(root, lockFile, afterwards) {
  const stamped = readStamp(root, lockFile);
  if (stamped !== undefined) return stamped;
  if (!isInstalled(root, lockFile)) {
    const paths = listPackages(JSON.parse(readFileSync(lockFile, 'utf8')));
    const title = paths.length === 1 ? 'installing 1 package' : `installing ${paths.length} packages`;
    const npmOutput = [];
    try {
      await showProgress(title, () => npmCi(root, npmOutput), { getDetail: createPackageCounter(root, paths) });
    } catch (error) {
      for (const bytes of npmOutput) process.stderr.write(bytes);
      throw error;
    }
  }
  const bun = findRuntime(root);
  await showProgress('building the program', () => afterwards(bun));
  writeStamp(root, lockFile, bun);
  return bun;
}

/** Reads the stamp: the hash of the lock file and the runtime, on two lines that the launcher reads without a process. */
function readStamp(root, lockFile) {
  const file = stampFile(root);
  if (!existsSync(file)) return undefined;
  const [hash, runtime] = readFileSync(file, 'utf8').split('\n');
  const bun = join(root, 'node_modules', runtime ?? '');
  if (hash !== hashOf(lockFile) || !runtime || !existsSync(bun)) return undefined;
  // The launcher compares times only, so a lock file that was touched but not changed renews the stamp.
  if (statSync(lockFile).mtimeMs > statSync(file).mtimeMs) writeStamp(root, lockFile, bun);
  return bun;
}

function writeStamp(root, lockFile, bun) {
  const runtime = relative(join(root, 'node_modules'), bun).replaceAll('\\', '/');
  writeFileSync(stampFile(root), `${hashOf(lockFile)}\n${runtime}\n`);
}

const stampFile = (root) => join(root, 'node_modules', '.ouro-stamp');
const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Returns true if npm's record of node_modules contains everything in the lock file. */
function isInstalled(root, lockFile) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = Object.entries(JSON.parse(readFileSync(lockFile, 'utf8')).packages);
  const present = JSON.parse(readFileSync(record, 'utf8')).packages;
  return wanted.every(([path, { optional, devOptional, version }]) => {
    // The root package and the workspaces are part of the checkout.
    const isOwn = !path.includes('node_modules/');
    return isOwn || optional || devOptional || present[path]?.version === version;
  });
}

const NPM_FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  // Errors only: npm's engine warnings are about Node, but the libraries run on the pinned runtime.
  '--loglevel=error',
  // npm's own progress would be drawn over the line with the progress.
  '--progress=false',
  // Tests and runtimes are needed whatever NODE_ENV or the npm configuration excludes.
  '--include=dev',
  '--include=optional',
  // Offline, npm would wait for more than a minute before it fails.
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=3000',
];

/**
 * Runs `npm ci` with its output on stderr: stdout belongs to the program. On a terminal, which shows the progress in one
 * line, the output is collected instead.
 */
function npmCi(root, collected) {
  const { file, args, shell } = npmCommand();
  const env = { ...process.env };
  // The prefix of a relative `npm --prefix X start` would otherwise be resolved again, inside X.
  if (env.npm_lifecycle_event !== undefined) delete env.npm_config_prefix;
  return new Promise((resolve, reject) => {
    const output = process.stderr.isTTY ? 'pipe' : 2;
    const child = spawnBound([file, ...args, 'ci', ...NPM_FLAGS], { cwd: root, env, shell }, output);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => collected.push(bytes));
    child.on('error', () => reject(new Error(NO_NPM)));
    child.on('exit', () => child.stdio[3]?.destroy());
    // Only then is all output here.
    child.on('close', (code, signal) => {
      if (code === 127) return reject(new Error(NO_NPM));
      if (code === 0) return resolve();
      reject(
        new Error(
          `The libraries could not be installed (npm ci ended with ${signal ?? code}). ` +
            'Check that you are online and that npm can reach its registry, then run the same command again.',
        ),
      );
    });
  });
}

const NO_NPM = 'npm could not be started. Install Node 20 or newer together with npm, then try again.';

/** Kills its process group when the pipe closes that only this process holds, so also after a kill. */
const BOUND = '{ read -r _ <&3; kill -KILL 0; } & exec 3<&-; "$@"';

/** Starts a program that does not outlive this process: an orphaned installation would disturb the next one. */
function spawnBound([file, ...args], options, output) {
  if (process.platform === 'win32') return spawn(file, args, { ...options, stdio: ['ignore', output, output] });
  return spawn('/bin/sh', ['-c', BOUND, 'sh', file, ...args], {
    ...options,
    detached: true,
    stdio: ['ignore', output, output, 'pipe'],
  });
}

/** Returns the npm that started this process, else the one on the PATH; on Windows a .cmd file, which needs a shell. */
function npmCommand() {
  const running = process.env.npm_execpath ?? '';
  if (basename(running) === 'npm-cli.js') return { file: process.execPath, args: [running], shell: false };
  return process.platform === 'win32'
    ? { file: 'npm.cmd', args: [], shell: true }
    : { file: 'npm', args: [], shell: false };
}
