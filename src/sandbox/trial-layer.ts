import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { findTrustedProgram, runSandboxProbe, type SandboxProbeFailure } from './backend.ts';

/** A folder of the workspace with a throw-away layer over it, as another process and as this one find it. */
export type LayeredFolder = {
  readonly path: string;
  /** The folder with its layer, as the sandbox program finds it. */
  readonly source: string;
  /** The content of the layer, and the folder with its layer, as this process finds them. */
  readonly upper: string;
  readonly merged: string;
};

/** Throw-away layers over the workspace and an empty home folder. They lie in memory and go when they are stopped. */
export type TrialLayer = {
  readonly folders: readonly LayeredFolder[];
  /** The folder that stands for the home folder, as the sandbox program and as this process find it. */
  readonly home: { readonly source: string; readonly own: string };
  /** File for the network counters of the command, as the sandbox program and as this process find it. */
  readonly counters: { readonly source: string; readonly own: string };
  /** Arguments that start a program where the layers are. */
  readonly enter: readonly string[];
  stop(): void;
};

/** The programs from util-linux that make layers. */
export type LayerPrograms = { readonly unshare: string; readonly nsenter: string };

/** Finds the programs that make layers, outside the workspace. */
export function findLayerPrograms(
  { path }: Pick<Environment, 'path'>,
  roots: readonly string[],
): LayerPrograms | undefined {
  const [unshare, nsenter] = ['unshare', 'nsenter'].map((name) => findTrustedProgram(name, path, roots));
  return process.platform !== 'linux' || unshare === undefined || nsenter === undefined
    ? undefined
    : { unshare, nsenter };
}

const MAX_MEGABYTES = 256;
/**
 * Mounts the layers in a mount namespace of their own, says so and waits until nobody needs them. The folders below are
 * bound first, since their names could not be passed on: some characters separate options.
 */
const SCRIPT = `
set -e
mount -t tmpfs -o size=${MAX_MEGABYTES}m,mode=700 ouro-trial "$0"
cd "$0"
mkdir home
: >counters
n=0
for folder; do
  mkdir "$n" "$n/lower" "$n/upper" "$n/work" "$n/merged"
  mount --rbind "$folder" "$n/lower"
  mount -t overlay -o "userxattr,lowerdir=$n/lower,upperdir=$n/upper,workdir=$n/work" overlay "$n/merged"
  n=$((n + 1))
done
echo "ready $$"
read -r _ || :
`;
const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

const buildArgs = (place: string, folders: readonly string[]) => [
  ...['--user', '--map-root-user', '--mount', '--kill-child', '/bin/sh', '-c', SCRIPT, place, ...folders],
];

/** Finds out whether this machine can make layers. */
export function probeTrialLayer({ unshare }: LayerPrograms, parent: string): SandboxProbeFailure | undefined {
  const place = mkdtempSync(join(parent, 'ouro-probe-'));
  try {
    const [mountPoint, folder] = [join(place, 'layer'), join(place, 'folder')];
    mkdirSync(mountPoint);
    mkdirSync(folder);
    return runSandboxProbe([unshare, ...buildArgs(mountPoint, [folder])], { env: ENV });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Makes layers over folders. Rejects if the system does not permit it. `place` is an empty folder of this user. */
export async function startTrialLayer(
  { unshare, nsenter }: LayerPrograms,
  place: string,
  folders: readonly string[],
): Promise<TrialLayer> {
  const holder = spawn(unshare, buildArgs(place, folders), { cwd: '/', env: ENV, stdio: ['pipe', 'pipe', 'pipe'] });
  const stop = () => void holder.kill('SIGKILL');
  try {
    const pid = await readHolderPid(holder);
    const own = (path: string) => `/proc/${pid}/root${join(place, path)}`;
    return {
      folders: folders.map((path, index) => ({
        path,
        source: join(place, `${index}/merged`),
        upper: own(`${index}/upper`),
        merged: own(`${index}/merged`),
      })),
      home: { source: join(place, 'home'), own: own('home') },
      counters: { source: join(place, 'counters'), own: own('counters') },
      enter: [nsenter, '--user', '--mount', '--preserve-credentials', '--target', pid],
      stop,
    };
  } catch (thrown) {
    stop();
    throw thrown;
  }
}

/** Waits until the layers are mounted. */
async function readHolderPid(holder: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    let complaint = '';
    holder.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    holder.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const [, pid] = /^ready (\d+)\n/.exec(printed) ?? [];
      if (pid !== undefined) resolve(pid);
    });
    holder.on('error', reject);
    holder.on('close', () => reject(new Error(complaint.trim().split('\n')[0] || 'the layer could not be made')));
  });
}
