import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, parse } from 'node:path';
import { z } from 'zod';
import { getReleaseSource } from '../../app/environment.ts';
import type { Environment } from '../../contracts/environment.ts';
import { getErrnoCode, getErrorPhrase } from '../../lib/errors.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { readTarGz } from '../../lib/files/tar.ts';
import { exemptLoopback } from '../../lib/network/resolve-proxy.ts';
import { runProgram } from '../../lib/processes/run-program.ts';
import { createNetworkFetch } from '../../model/stream/network-fetch.ts';
import type { Installation } from './detect-installation.ts';

/** The request to `ouro update`. */
export type UpdateRequest = {
  readonly action: 'update' | 'check' | 'back';
  /** The version to install; default: the newest. */
  readonly version?: string | undefined;
};

/** A file that only the archives of releases contain. */
export const THIRD_PARTY_NOTICES_FILE = 'THIRD-PARTY.txt';
const NPM_TIMEOUT_MS = 15 * 60_000;
const START_TIMEOUT_MS = 30_000;

/** Updates an installation, or returns to the version before. Returns what to tell; throws if nothing was changed. */
export async function updateInstallation(
  installation: Installation,
  request: UpdateRequest,
  environment: Environment,
): Promise<string> {
  switch (installation.kind) {
    case 'checkout':
      throw new Error(`ouro runs from the checkout ${installation.root}. Update it with git pull.`);
    case 'manager':
      throw new Error(`ouro was installed with ${installation.name}. Update it with: ${installation.update}`);
    case 'npm':
      return updateWithNpm(installation.prefix, request, environment);
    default:
      return request.action === 'back'
        ? restorePrevious(installation.file, environment)
        : updateExecutable(installation.file, request, environment);
  }
}

async function updateExecutable(file: string, request: UpdateRequest, environment: Environment): Promise<string> {
  const { version: current } = environment;
  const { target, releasesUrl } = getReleaseSource();
  const address = environment.variables.OURO_RELEASE_URL ?? releasesUrl;
  if (address === undefined)
    throw new Error('This build of ouro belongs to no release. Set OURO_RELEASE_URL to the address of its releases.');
  const send = createNetworkFetch({
    variables: environment.variables,
    keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
  });
  const release = await findRelease({ releasesUrl: address, target, version: request.version, send });
  if (release.version === current) return `ouro ${current} is installed already.`;
  if (request.version === undefined && compareVersions(release.version, current) < 0)
    return `ouro ${current} is newer than the newest release, ${release.version}.`;
  if (request.action === 'check') return `ouro ${release.version} is available; ${current} is installed.`;
  const files = readTarGz(await downloadRelease(release, send));
  await replaceFiles(file, files, release.version, environment);
  return `ouro ${current} was replaced by ${release.version}. Running sessions keep their version. "ouro update --back" returns to ${current}.`;
}

/** Replaces the executable, and the ripgrep beside it, by the files of a release that runs on this machine. */
async function replaceFiles(
  file: string,
  files: ReadonlyMap<string, Uint8Array>,
  version: string,
  environment: Environment,
): Promise<void> {
  const folder = dirname(file);
  // Beside the executable, because a rename is atomic within a file system only.
  const unpacked = join(folder, `.ouro-update-${process.pid}`);
  try {
    await mkdir(unpacked);
    const suffix = process.platform === 'win32' ? '.exe' : '';
    const fresh = { ouro: join(unpacked, `ouro${suffix}`), ripgrep: join(unpacked, `rg${suffix}`) };
    for (const path of [fresh.ouro, fresh.ripgrep]) await writeExecutable(path, files.get(basename(path)));
    const found = await readVersion(fresh.ouro, environment);
    if (found !== version) throw new Error(`The downloaded ouro ${version} does not run on this machine.`);
    const ripgrep = join(folder, basename(fresh.ripgrep));
    // An rg in the same folder belongs to ouro only if an archive was unpacked there.
    if (existsSync(join(folder, THIRD_PARTY_NOTICES_FILE))) await replaceFile(ripgrep, fresh.ripgrep);
    await replaceFile(file, fresh.ouro);
  } catch (thrown) {
    throw explainUnwritable(folder, thrown);
  } finally {
    await rm(unpacked, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function writeExecutable(path: string, content: Uint8Array | undefined): Promise<void> {
  if (content === undefined) throw new Error(`The archive of the release has no ${basename(path)}.`);
  const handle = await open(path, 'wx', 0o755);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the path at which the version before an update is kept. */
export function getPreviousVersionPath(file: string): string {
  return file.endsWith('.exe') ? `${file.slice(0, -4)}.previous.exe` : `${file}.previous`;
}

/** Replaces a file and keeps it; at every moment one of the two is at its path. */
async function replaceFile(file: string, fresh: string): Promise<void> {
  const previous = getPreviousVersionPath(file);
  await rm(previous, { force: true });
  if (process.platform === 'win32') {
    // Windows does not replace a running program, but renames it.
    await rename(file, previous);
    await rename(fresh, file).catch(async (thrown) => {
      await rename(previous, file);
      throw thrown;
    });
    return;
  }
  // A private umask must not take the program away from the other users of the machine.
  await chmod(fresh, (await stat(file)).mode & 0o7777);
  // File systems without links get a copy.
  await link(file, previous).catch(() => copyFile(file, previous));
  await rename(fresh, file);
}

/** Exchanges the executable with the one before the last update. */
async function restorePrevious(file: string, environment: Environment): Promise<string> {
  const folder = dirname(file);
  const previous = getPreviousVersionPath(file);
  const version = await readVersion(previous, environment);
  if (version === undefined) throw new Error(`There is no earlier version of ouro: ${previous} does not exist.`);
  const restored = join(folder, `.ouro-back-${process.pid}${process.platform === 'win32' ? '.exe' : ''}`);
  try {
    await link(previous, restored).catch(() => copyFile(previous, restored));
    await replaceFile(file, restored);
  } catch (thrown) {
    throw explainUnwritable(folder, thrown);
  } finally {
    await rm(restored, { force: true }).catch(() => undefined);
  }
  return `ouro ${environment.version} was replaced by ${version}. "ouro update --back" returns to ${environment.version}.`;
}

/** Returns the version that an executable prints; `undefined` if it does not run. */
async function readVersion(file: string, environment: Environment): Promise<string | undefined> {
  const { code, stdout } = await runProgram(file, ['--version'], {
    env: environment.variables,
    timeoutMs: START_TIMEOUT_MS,
  });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

/** Returns the error for a folder of the program that belongs to another user, and other errors as they are. */
export function explainUnwritable(folder: string, thrown: unknown): unknown {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(getErrnoCode(thrown) ?? '')) return thrown;
  return new Error(`You may not change ${folder}. Run the command as its owner, or install ouro in your home folder.`, {
    cause: thrown,
  });
}

const history = z.object({ previous: z.string().optional() });

/** Installs a version with npm, which verifies it, and remembers the one before. */
async function updateWithNpm(
  prefix: string,
  { action, version }: UpdateRequest,
  environment: Environment,
): Promise<string> {
  const { packageName } = getReleaseSource();
  const { version: current, ouroHome } = environment;
  const store = openJsonStore(join(ouroHome, 'update.json'), {
    empty: {},
    entryDepth: 1,
    parse: (json) => history.safeParse(json),
  });
  const { previous } = (await store.read()).value;
  if (action === 'back' && previous === undefined)
    throw new Error('There is no earlier version of ouro: no update was made.');
  const asked = action === 'back' ? previous : version;
  const wanted = asked ?? (await runNpm(['view', packageName, 'version'], environment));
  if (!EXACT_VERSION.test(wanted)) throw new Error(`The registry answered "${wanted}", which is no version of ouro.`);
  if (wanted === current) return `ouro ${current} is installed already.`;
  if (asked === undefined && compareVersions(wanted, current) < 0)
    return `ouro ${current} is newer than the newest release, ${wanted}.`;
  if (action === 'check') return `ouro ${wanted} is available; ${current} is installed.`;
  await runNpm(['install', '--global', '--prefix', prefix, '--', `${packageName}@${wanted}`], environment);
  await store.change(() => [{ path: ['previous'], value: current }]);
  return `ouro ${current} was replaced by ${wanted}. Running sessions keep their version. "ouro update --back" returns to ${current}.`;
}

/** Anything else, such as a URL, a path or an alias, would have npm install another package. */
const EXACT_VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;

/**
 * Runs npm and returns what it prints. Throws with its message if it fails. Only the configuration of the user and of
 * the machine counts: npm runs in the root folder, because the `.npmrc` of the working directory may name another
 * registry and send it a token, and without variables of `npm run`, which repeat that file. No script of a package runs.
 */
export async function runNpm(args: readonly string[], environment: Environment): Promise<string> {
  const [file, ...first] = process.platform === 'win32' ? ['cmd.exe', '/d', '/c', 'npm'] : ['npm'];
  const kept = Object.entries(environment.variables).filter(([name]) => !/^npm_|^INIT_CWD$|^NODE_OPTIONS$/i.test(name));
  const { code, stdout, stderr, problem } = await runProgram(file ?? 'npm', [...first, '--ignore-scripts', ...args], {
    cwd: parse(environment.home).root,
    env: exemptLoopback(Object.fromEntries(kept)),
    timeoutMs: NPM_TIMEOUT_MS,
  });
  if (code === 0) return stdout.toString('utf8').trim();
  const reason = problem ?? stderr.toString('utf8').trim();
  throw new Error(`npm ${args.join(' ')} failed. ${reason}`);
}

/** A release for one system: its version, and the archive with its checksum. */
type Release = { readonly version: string; readonly url: string; readonly sha256: string };

type ReleaseQuery = {
  /** Address of the releases, laid out as GitHub does: `latest/download/<file>`, `download/v<version>/<file>`. */
  readonly releasesUrl: string;
  readonly target: string;
  /** Default: the newest. */
  readonly version?: string | undefined;
  readonly send: typeof fetch;
};

const LIST_TIMEOUT_MS = 30_000;
const ARCHIVE_TIMEOUT_MS = 15 * 60_000;

/** Finds the release for a system in the list of checksums. Throws if there is none. @internal Exported for tests. */
export async function findRelease({ releasesUrl, target, version, send }: ReleaseQuery): Promise<Release> {
  const base = releasesUrl.replace(/(?<!\/)\/+$/, '');
  checkAddress(base);
  const folder = version === undefined ? `${base}/latest/download` : `${base}/download/v${version}`;
  const list = await fetchBytes(`${folder}/SHA256SUMS`, LIST_TIMEOUT_MS, send);
  const found = new TextDecoder()
    .decode(list)
    .split('\n')
    .flatMap((line) => {
      const [, sha256 = '', name = '', listed = ''] =
        /^([0-9a-f]{64}) [ *](ouro-(\d[\w.+-]*?)-SYSTEM\.tar\.gz)$/.exec(
          line.trim().replace(`-${target}.tar.gz`, '-SYSTEM.tar.gz'),
        ) ?? [];
      const file = name.replace('-SYSTEM.', `-${target}.`);
      return sha256 === '' ? [] : [{ version: listed, url: `${base}/download/v${listed}/${file}`, sha256 }];
    });
  const [release] = found;
  if (release === undefined) throw new Error(`${folder} has no release for ${target}.`);
  if (version !== undefined && release.version !== version)
    throw new Error(`${folder} is release ${release.version}, not ${version}.`);
  return release;
}

/** Downloads the archive of a release. Throws if it is not complete or not the one of the list. @internal */
export async function downloadRelease({ url, sha256 }: Release, send: typeof fetch): Promise<Uint8Array> {
  const bytes = await fetchBytes(url, ARCHIVE_TIMEOUT_MS, send);
  const actual = createHash('sha256').update(bytes).digest('hex');
  if (actual === sha256) return bytes;
  throw new Error(`The checksum of ${url} is ${actual}, but the release lists ${sha256}.`);
}

/** Returns a negative number if version `a` is older than `b`, as Semantic Versioning orders them. @internal */
export function compareVersions(a: string, b: string): number {
  const [coreA = '', ...restA] = (a.split('+')[0] ?? '').split('-');
  const [coreB = '', ...restB] = (b.split('+')[0] ?? '').split('-');
  const [preA, preB] = [restA.join('-'), restB.join('-')];
  const core = compareParts(coreA, coreB);
  if (core !== 0 || preA === preB) return core;
  // A version without a suffix is newer than its pre-releases.
  if (preA === '' || preB === '') return preA === '' ? 1 : -1;
  return compareParts(preA, preB);
}

function compareParts(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Only a server on this machine may be asked without encryption: the list of checksums must be genuine. */
function checkAddress(base: string): void {
  const { protocol, hostname } = URL.canParse(base) ? new URL(base) : { protocol: '', hostname: '' };
  const isLocal = protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !isLocal) throw new Error(`${base} is not an https address.`);
}

async function fetchBytes(url: string, timeoutMs: number, send: typeof fetch): Promise<Uint8Array> {
  try {
    const response = await send(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new Error(`Cannot read ${url}: ${getErrorPhrase(cause)}.`, { cause });
  }
}
