import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { getPublicKey, signRelease } from '../../../bin/release-signature.mjs';
import { describeBuild } from '../../../src/app/setup/doctor.ts';
import { findRelease, isSignedBy } from '../../../src/cli/installation/find-release.ts';
import { fetch } from '../../../src/lib/network/fetch.ts';
import { startJsonServer } from '../../support/json-server.ts';

const createKey = () => String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
const key = createKey();
const publicKey = getPublicKey(key);
const list = Buffer.from(`${'a'.repeat(64)}  ouro-1.3.0-linux-x64.tar.gz\n`);
const signature = signRelease(key, list);

test('a signature counts for the signed bytes and the key only', () => {
  expect(isSignedBy(publicKey, list, signature)).toBe(true);
  expect(isSignedBy(`${publicKey} somebody@example.com`, list, signature)).toBe(true);
  expect(isSignedBy(getPublicKey(createKey()), list, signature)).toBe(false);
  expect(isSignedBy(publicKey, Buffer.concat([list, list]), signature)).toBe(false);
});

test.each(['', 'ssh-ed25519', 'ssh-ed25519 AAAA', 'ssh-rsa AAAAB3NzaC1yc2E=', 'x'])(
  'nothing is signed by %o, which is no key',
  (wrong) => {
    expect(isSignedBy(wrong, list, signature)).toBe(false);
  },
);

/** The bytes of a signature, changed. */
function change(edit: (bytes: Buffer) => Buffer): string {
  const bytes = Buffer.from(signature.replaceAll(/-----.*?-----|\s/g, ''), 'base64');
  return `-----BEGIN SSH SIGNATURE-----\n${edit(bytes).toString('base64')}\n-----END SSH SIGNATURE-----\n`;
}

const size = Buffer.from(signature.replaceAll(/-----.*?-----|\s/g, ''), 'base64').length;

test.each(Array.from({ length: size }, (_, index) => index))(
  'a signature with another byte %i does not count',
  (at) => {
    const changed = change((bytes) => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))));
    expect(isSignedBy(publicKey, list, changed)).toBe(false);
  },
);

test('half a signature, none, and text are no signatures', () => {
  for (const wrong of [
    '',
    'signed, ouro',
    change((bytes) => bytes.subarray(0, size / 2)),
    change(() => Buffer.alloc(size)),
  ])
    expect(isSignedBy(publicKey, list, wrong)).toBe(false);
});

test.each([
  ['its signature', { '.sig': Buffer.from(signature) }, /^$/],
  [
    'that of another key',
    { '.sig': Buffer.from(signRelease(createKey(), list)) },
    /is not signed with the key of this build/,
  ],
  [
    'that of another list',
    { '.sig': Buffer.from(signRelease(key, Buffer.from('x'))) },
    /is not signed with the key of this build/,
  ],
  ['no signature', {}, /SHA256SUMS\.sig: the server answered 404/],
])('an update with %s', async (_name, files, problem) => {
  const signatures = Object.entries(files).map(([end, content]) => [`/latest/download/SHA256SUMS${end}`, content]);
  await using server = await startJsonServer({
    '/latest/download/SHA256SUMS': list,
    ...Object.fromEntries(signatures),
  });
  const query = { releasesUrl: server.url, target: 'linux-x64', send: fetch };
  const found = await findRelease({ ...query, releaseKey: publicKey }).then(
    () => '',
    ({ message }) => message,
  );
  expect(found).toMatch(problem);
  // A build without a key looks for no signature.
  expect(await findRelease(query)).toMatchObject({ version: '1.3.0' });
});

test('doctor says whether a build verifies signatures', () => {
  expect([
    describeBuild('1.2.3', false, { releaseKey: undefined }),
    describeBuild('1.2.3', true, { releaseKey: undefined }),
    describeBuild('1.2.3', true, { releaseKey: 'ssh-ed25519 AAAA' }),
  ]).toEqual([
    '1.2.3',
    '1.2.3; this build verifies no signatures of releases, only checksums',
    '1.2.3; releases must be signed with ssh-ed25519 AAAA',
  ]);
});
