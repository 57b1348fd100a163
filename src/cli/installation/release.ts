import { createHash } from 'node:crypto';
import { getErrorMessage } from '../../lib/errors.ts';

/** A release for one system: its version, and the archive with its checksum. */
export type Release = { readonly version: string; readonly url: string; readonly sha256: string };

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

/** Finds the release for a system in the list of checksums. Throws if there is none. */
export async function findRelease({ releasesUrl, target, version, send }: ReleaseQuery): Promise<Release> {
  const base = releasesUrl.replace(/\/+$/, '');
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

/** Downloads the archive of a release. Throws if it is not complete or not the one of the list. */
export async function downloadRelease({ url, sha256 }: Release, send: typeof fetch): Promise<Uint8Array> {
  const bytes = await fetchBytes(url, ARCHIVE_TIMEOUT_MS, send);
  const actual = createHash('sha256').update(bytes).digest('hex');
  if (actual === sha256) return bytes;
  throw new Error(`The checksum of ${url} is ${actual}, but the release lists ${sha256}.`);
}

/** Returns a negative number if version `a` is older than `b`, as Semantic Versioning orders them. */
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
    throw new Error(`Cannot read ${url}: ${getErrorMessage(cause)}.`, { cause });
  }
}
