import { createHash, createPublicKey, verify } from 'node:crypto';
import { getErrorPhrase } from '../../lib/errors.ts';

/** A release for one system: its version, and the archive with its checksum. */
type Release = { readonly version: string; readonly url: string; readonly sha256: string };

type ReleaseQuery = {
  /** Address of the releases, laid out as GitHub does: `latest/download/<file>`, `download/v<version>/<file>`. */
  readonly releasesUrl: string;
  /** Public key that signs the releases; without one, checksums alone are compared. */
  readonly releaseKey?: string | undefined;
  readonly target: string;
  /** Default: the newest. */
  readonly version?: string | undefined;
  readonly send: typeof fetch;
};

const LIST_TIMEOUT_MS = 30_000;
const ARCHIVE_TIMEOUT_MS = 15 * 60_000;

/** Finds the release for a system in the list of checksums. Throws if there is none. */
export async function findRelease({ releasesUrl, releaseKey, target, version, send }: ReleaseQuery): Promise<Release> {
  const base = releasesUrl.replace(/(?<!\/)\/+$/, '');
  checkAddress(base);
  const folder = version === undefined ? `${base}/latest/download` : `${base}/download/v${version}`;
  const list = await fetchBytes(`${folder}/SHA256SUMS`, LIST_TIMEOUT_MS, send);
  if (releaseKey !== undefined) await checkSignature(`${folder}/SHA256SUMS`, list, releaseKey, send);
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

/** Throws if a file is not signed with the key of the releases, which no server of archives has. */
async function checkSignature(url: string, content: Uint8Array, releaseKey: string, send: typeof fetch): Promise<void> {
  const signature = new TextDecoder().decode(await fetchBytes(`${url}.sig`, LIST_TIMEOUT_MS, send));
  if (isSignedBy(releaseKey, content, signature)) return;
  throw new Error(
    `${url} is not signed with the key of this build of ouro (${releaseKey}). Nothing was installed. If the key has changed, install ouro anew; docs/installing.md says how to compare keys.`,
  );
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
    const response = await followRedirects(url, AbortSignal.timeout(timeoutMs), send);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new Error(`Cannot read ${url}: ${getErrorPhrase(cause)}.`, { cause });
  }
}

const MAX_REDIRECTS = 10;

/** Sends a request and follows its redirects to other https addresses only. */
async function followRedirects(url: string, signal: AbortSignal, send: typeof fetch): Promise<Response> {
  let address = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await send(address, { signal, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    address = new URL(location, address).href;
    if (!address.startsWith('https:')) throw new Error(`it redirects to ${address}, which is not an https address`);
  }
  throw new Error(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** The purpose of a signature: one that the key made for something else does not count. */
const NAMESPACE = 'ouro-release';
/** Bytes before those of an Ed25519 key in the format of `createPublicKey`. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Returns whether a signature (SSHSIG) of these bytes was made with a key, given as a line of `id_ed25519.pub`. @internal */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const [, encodedKey = ''] = publicKey.trim().split(/\s+/);
  const key = Buffer.from(encodedKey, 'base64');
  const [keyType, keyBytes] = readStrings(key);
  const blob = Buffer.from(signature.replaceAll(/-----.*?-----|\s/g, ''), 'base64');
  if (keyType?.toString() !== 'ssh-ed25519' || keyBytes?.length !== 32) return false;
  if (blob.subarray(0, 10).toString('latin1') !== 'SSHSIG\0\0\0\u0001') return false;
  const [signer, namespace, reserved, hashName, encodedSignature] = readStrings(blob.subarray(10));
  const [signatureType, signed] = readStrings(encodedSignature ?? Buffer.alloc(0));
  if (signer?.equals(key) !== true || namespace?.toString() !== NAMESPACE || reserved?.length !== 0) return false;
  if (hashName?.toString() !== 'sha512' || signatureType?.toString() !== 'ssh-ed25519') return false;
  const digest = createHash('sha512').update(bytes).digest();
  const message = Buffer.concat([
    Buffer.from('SSHSIG'),
    ...[namespace, reserved, hashName, digest].map((part) => Buffer.concat([encodeLength(part.length), part])),
  ]);
  const imported = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, keyBytes]), format: 'der', type: 'spki' });
  return signed?.length === 64 && verify(null, message, imported, signed);
}

/** Reads texts with a length of four bytes before each; a length that is too large ends the list. */
function readStrings(bytes: Buffer): readonly Buffer[] {
  const strings: Buffer[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    strings.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return strings;
}

function encodeLength(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}
