import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { holdingLock } from './install-lock.mjs';
import { findRuntime } from './runtime.mjs';

/** Gives the path of a runtime that works, after installing the libraries if the lock file asks for others. */
export async function ensureInstalled(root, afterwards) {
  const lockFile = join(root, 'package-lock.json');
  if (!existsSync(lockFile)) return findRuntime(root);
  return readStamp(root, lockFile) ?? holdingLock(join(root, '.installing'), () => install(root, lockFile, afterwards));
}

async function install(root, lockFile, afterwards) {
  const stamped = readStamp(root, lockFile);
  if (stamped !== undefined) return stamped;
  if (!isInstalled(root, lockFile)) {
    process.stderr.write('ouro: installing the libraries, once …\n');
    await npmCi(root);
  }
  const bun = findRuntime(root);
  afterwards(bun);
  writeStamp(root, lockFile, bun);
  return bun;
}

/** The stamp is two lines, which the launcher reads without starting a process: hash of the lock file, runtime. */
function readStamp(root, lockFile) {
  const file = stampFile(root);
  if (!existsSync(file)) return undefined;
  const [hash, runtime] = readFileSync(file, 'utf8').split('\n');
  const bun = join(root, 'node_modules', runtime ?? '');
  if (hash !== hashOf(lockFile) || !runtime || !existsSync(bun)) return undefined;
  // The launcher compares times only: a lock file that was touched but not changed is fresh again.
  if (statSync(lockFile).mtimeMs > statSync(file).mtimeMs) writeStamp(root, lockFile, bun);
  return bun;
}

function writeStamp(root, lockFile, bun) {
  const runtime = relative(join(root, 'node_modules'), bun).replaceAll('\\', '/');
  writeFileSync(stampFile(root), `${hashOf(lockFile)}\n${runtime}\n`);
}

const stampFile = (root) => join(root, 'node_modules', '.ouro-stamp');
const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** True when npm's own record of node_modules already holds everything the lock file asks for. */
function isInstalled(root, lockFile) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = Object.entries(JSON.parse(readFileSync(lockFile, 'utf8')).packages);
  const present = JSON.parse(readFileSync(record, 'utf8')).packages;
  return wanted.every(([path, { optional, devOptional, version }]) => {
    return path === '' || optional || devOptional || present[path]?.version === version;
  });
}

const NPM_FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  // Errors only: the engine warnings of npm speak of Node, and the libraries run on the pinned runtime.
  '--loglevel=error',
  // Tests and runtimes are needed whatever NODE_ENV or the settings of the machine leave out.
  '--include=dev',
  '--include=optional',
  // Offline, npm would wait for more than a minute before it says so.
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=3000',
];

/** Everything npm says goes to stderr: stdout belongs to the program. */
function npmCi(root) {
  const { file, args, shell } = npmCommand();
  const env = { ...process.env };
  // A relative `npm --prefix X start` would otherwise be resolved a second time, from inside X.
  if (env.npm_lifecycle_event !== undefined) delete env.npm_config_prefix;
  return new Promise((resolve, reject) => {
    const child = spawnBound([file, ...args, 'ci', ...NPM_FLAGS], { cwd: root, env, shell });
    child.on('error', () => reject(new Error(NO_NPM)));
    child.on('exit', (code, signal) => {
      child.stdio[3]?.destroy();
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

/** Waits for the end of a pipe that only we hold, and then ends its whole group: also when we were killed. */
const BOUND = '{ read -r _ <&3; kill -KILL 0; } & exec 3<&-; "$@"';

/** A program that does not outlive us: half of an installation would go on under the feet of the next one. */
function spawnBound([file, ...args], options) {
  if (process.platform === 'win32') return spawn(file, args, { ...options, stdio: ['ignore', 2, 2] });
  return spawn('/bin/sh', ['-c', BOUND, 'sh', file, ...args], {
    ...options,
    detached: true,
    stdio: ['ignore', 2, 2, 'pipe'],
  });
}

/** The npm that started us, or else the one on the PATH; on Windows that is a .cmd file, which needs a shell. */
function npmCommand() {
  const running = process.env.npm_execpath ?? '';
  if (basename(running) === 'npm-cli.js') return { file: process.execPath, args: [running], shell: false };
  return process.platform === 'win32'
    ? { file: 'npm.cmd', args: [], shell: true }
    : { file: 'npm', args: [], shell: false };
}
