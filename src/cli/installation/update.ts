import { existsSync } from 'node:fs';
import { chmod, copyFile, link, mkdir, mkdtemp, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, parse } from 'node:path';
import { z } from 'zod';
import { getReleaseSource } from '../../app/release-source.ts';
import type { Environment } from '../../contracts/environment.ts';
import { getErrnoCode } from '../../lib/errors.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { readTarGz } from '../../lib/files/tar.ts';
import { exemptLoopback } from '../../lib/network/resolve-proxy.ts';
import { type ProgramResult, runProgram } from '../../lib/processes/run-program.ts';
import { createNetworkFetch } from '../../model/stream/network-fetch.ts';
import type { Installation } from './detect-installation.ts';
import { compareVersions, downloadRelease, findRelease } from './find-release.ts';

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
  const { target, releasesUrl, releaseKey } = getReleaseSource();
  const address = environment.variables.OURO_RELEASE_URL ?? releasesUrl;
  if (address === undefined)
    throw new Error('This build of ouro belongs to no release. Set OURO_RELEASE_URL to the address of its releases.');
  const send = createNetworkFetch({
    variables: environment.variables,
    keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
  });
  const release = await findRelease({ releasesUrl: address, releaseKey, target, version: request.version, send });
  if (release.version === current) return `ouro ${current} is installed already.`;
  if (request.version === undefined && compareVersions(release.version, current) < 0)
    return `ouro ${current} is newer than the newest release, ${release.version}.`;
  if (request.action === 'check') return `ouro ${release.version} is available; ${current} is installed.`;
  const files = readTarGz(await downloadRelease(release, send));
  await replaceFiles(file, files, release.version, environment);
  const replaced = `ouro ${current} was replaced by ${release.version}. Running sessions keep their version. "ouro update --back" returns to ${current}.`;
  return releaseKey === undefined ? `${replaced}\n${NO_SIGNATURES}` : replaced;
}

/** The sentence for builds that were made without the key of the releases. */
const NO_SIGNATURES = 'This build of ouro verifies no signatures: the download was compared with its checksum only.';

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
  const unverified = await verifyWithNpm(`${packageName}@${wanted}`, environment);
  await runNpm(['install', '--global', '--prefix', prefix, '--', `${packageName}@${wanted}`], environment);
  await store.change(() => [{ path: ['previous'], value: current }]);
  return `ouro ${current} was replaced by ${wanted}. Running sessions keep their version. "ouro update --back" returns to ${current}.${unverified}`;
}

const auditSchema = z
  .object({
    invalid: z.array(z.unknown()),
    missing: z.array(z.unknown()),
    error: z.object({ summary: z.string() }),
  })
  .partial()
  .catch({});

/**
 * Has npm verify the signatures of a package and its attestation, with keys that npm does not take from the registry.
 * Their server is asked once: npm would try for minutes where a network lets only the registry through.
 * Throws if one is wrong or missing; returns what to tell if nothing can be verified, as with a private registry.
 */
async function verifyWithNpm(spec: string, environment: Environment): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ouro-update-'));
  try {
    await writeFile(join(folder, 'package.json'), '{}');
    await runNpm(['install', '--prefix', folder, '--', spec], environment);
    const { stdout, stderr, problem } = await startNpm(
      ['audit', 'signatures', '--json', '--fetch-retries=0', '--fetch-timeout=20000', '--prefix', folder],
      environment,
    );
    const { invalid, missing, error } = auditSchema.parse(parseJsonOrUndefined(stdout.toString('utf8')));
    if (invalid === undefined || missing === undefined) {
      const reason = error?.summary ?? problem ?? stderr.toString('utf8').trim();
      return `\nIts signatures were not verified: ${reason === '' ? 'npm gave no reason.' : reason}`;
    }
    if (invalid.length + missing.length === 0) return '';
    throw new Error(`npm audit signatures rejects ${spec}: a signature is wrong or missing. Nothing was installed.`);
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Anything else, such as a URL, a path or an alias, would have npm install another package. What looks like a version and
 * is none (`09.0.0`) is the name of a tag to npm, behind which the registry may put an older version.
 */
const EXACT_VERSION =
  /^(?:0|[1-9]\d{0,14})(?:\.(?:0|[1-9]\d{0,14})){2}(?:-(?:0|[1-9]\d{0,14}|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d{0,14}|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/**
 * Runs npm and returns what it prints. Throws with its message if it fails. Only the configuration of the user and of
 * the machine counts: npm runs in the root folder, because the `.npmrc` of the working directory may name another
 * registry and send it a token, and without variables of `npm run`, which repeat that file. No script of a package runs.
 */
export async function runNpm(args: readonly string[], environment: Environment): Promise<string> {
  const { code, stdout, stderr, problem } = await startNpm(args, environment);
  if (code === 0) return stdout.toString('utf8').trim();
  const reason = problem ?? stderr.toString('utf8').trim();
  throw new Error(`npm ${args.join(' ')} failed. ${reason}`);
}

async function startNpm(args: readonly string[], environment: Environment): Promise<ProgramResult> {
  const [file, ...first] = process.platform === 'win32' ? ['cmd.exe', '/d', '/c', 'npm'] : ['npm'];
  const kept = Object.entries(environment.variables)
    // PREFIX and DESTDIR would move the configuration of the machine.
    .filter(([name]) => !/^npm_|^(?:INIT_CWD|NODE_OPTIONS|PREFIX|DESTDIR)$/i.test(name))
    .map(([name, value]) => [name, /^path$/i.test(name) ? withoutProjectPrograms(value) : value]);
  return runProgram(file ?? 'npm', [...first, '--ignore-scripts', ...args], {
    cwd: parse(environment.home).root,
    env: exemptLoopback(Object.fromEntries(kept)),
    timeoutMs: NPM_TIMEOUT_MS,
  });
}

/** Returns a PATH without relative folders and `node_modules/.bin`, which `npm run`, `npx` and direnv add for a project. */
function withoutProjectPrograms(path: string): string {
  const folders = path.split(delimiter);
  return folders
    .filter((folder) => isAbsolute(folder) && !/node_modules[\\/]\.bin[\\/]*$/.test(folder))
    .join(delimiter);
}
