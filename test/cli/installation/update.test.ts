import { expect, test } from 'vitest';
import { compareVersions, downloadRelease, findRelease } from '../../../src/cli/installation/update.ts';
import { startJsonServer } from '../../support/json-server.ts';

const HASH = 'b'.repeat(64);
const LIST = Buffer.from(
  [
    `${HASH}  install.sh`,
    `${'a'.repeat(64)}  ouro-1.3.0-linux-x64-musl.tar.gz`,
    `${HASH}  ouro-1.3.0-linux-x64.tar.gz`,
  ].join('\n'),
);

const find = (releasesUrl: string, more: { readonly target?: string; readonly version?: string } = {}) =>
  findRelease({ releasesUrl, target: 'linux-x64', send: fetch, ...more });

test('the newest release is the one in the list of checksums', async () => {
  await using server = await startJsonServer({
    '/latest/download/SHA256SUMS': LIST,
    '/download/v1.3.0/SHA256SUMS': LIST,
    '/download/v1.2.0/SHA256SUMS': LIST,
  });
  const release = {
    version: '1.3.0',
    sha256: HASH,
    url: `${server.url}/download/v1.3.0/ouro-1.3.0-linux-x64.tar.gz`,
  };
  expect(await find(server.url)).toEqual(release);
  expect(await find(`${server.url}/`, { version: '1.3.0' })).toEqual(release);
  expect(await find(server.url, { target: 'linux-x64-musl' })).toMatchObject({ sha256: 'a'.repeat(64) });
  await expect(find(server.url, { version: '1.2.0' })).rejects.toThrow('is release 1.3.0, not 1.2.0.');
  await expect(find(server.url, { target: 'linux-arm64' })).rejects.toThrow('has no release for linux-arm64.');
  await expect(find(server.url, { version: '0.9.0' })).rejects.toThrow('the server answered 404');
});

test('an archive that is not the one of the list is refused', async () => {
  await using server = await startJsonServer({ '/a.tar.gz': Buffer.from('half of it') });
  const release = { version: '1.3.0', sha256: HASH, url: `${server.url}/a.tar.gz` };
  await expect(downloadRelease(release, fetch)).rejects.toThrow(/^The checksum of .* but the release lists b+\.$/);
});

test.each(['http://example.com/releases', 'ftp://example.com', 'releases'])('%s is not asked', async (address) => {
  await expect(find(address)).rejects.toThrow(`${address} is not an https address.`);
});

test.each([
  ['1.2.3', '1.2.3', 0],
  ['1.2.3', '1.10.0', -1],
  ['2.0.0', '1.10.0', 1],
  ['1.0.0-rc.2', '1.0.0', -1],
  ['1.0.0-rc.10', '1.0.0-rc.2', 1],
  ['1.0.0+5', '1.0.0+6', 0],
])('%s against %s', (a, b, expected) => {
  expect(Math.sign(compareVersions(a, b))).toBe(expected);
});
