import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../bin/bundle.mjs';
import { packTarGz } from '../../bin/tar.mjs';

/** The files of an archive. */
type Files = Readonly<Record<string, Uint8Array | string>>;

/** The system these tests run on, as archives name it. */
export const TARGET = `${process.platform}-${process.arch}`;

/** A program that only prints its version. */
export const programOfVersion = (version: string): string => `#!/bin/sh\necho ${version}\n`;

/** Creates the archive of a release; its other files are small. */
export function createReleaseArchive(ouro: Uint8Array | string, version: string): Buffer {
  const files: Files = { ouro, rg: `rg of ${version}\n`, LICENSE: 'MIT\n', 'THIRD-PARTY.txt': 'None.\n' };
  return packTarGz(
    Object.entries(files).map(([name, content]) => ({
      name,
      mode: /^(?:ouro|rg)$/.test(name) ? 0o755 : 0o644,
      content: Buffer.from(content),
    })),
    { level: 1 },
  );
}

/** Creates the responses of the release server, the newest release first; `listed` are the files with checksums. */
export function createReleaseResponses(
  ...releases: readonly { readonly version: string; readonly archive: Buffer; readonly listed?: Buffer }[]
): Readonly<Record<string, Buffer>> {
  const answers: Record<string, Buffer> = {};
  for (const { version, archive, listed = archive } of releases) {
    const name = `ouro-${version}-${TARGET}.tar.gz`;
    const list = Buffer.from(`${createHash('sha256').update(listed).digest('hex')}  ${name}\n`);
    answers['/latest/download/SHA256SUMS'] ??= list;
    answers[`/download/v${version}/SHA256SUMS`] = list;
    answers[`/download/v${version}/${name}`] = archive;
  }
  return answers;
}

const MANIFEST = join(import.meta.dirname, '../../package.json');

/** The part of Bun's bundler that plugins use. */
type Builder = {
  onLoad(
    options: { readonly filter: RegExp },
    load: (file: { readonly path: string }) => Promise<{ contents: string; loader: 'json' }>,
  ): void;
};

/** Builds an executable of these sources that has another version. It starts more slowly than a released one. */
export async function buildExecutableOfVersion(version: string, folder: string): Promise<string> {
  const outfile = join(folder, `ouro-${version}`);
  const withVersion = {
    name: 'with-version',
    setup(build: Builder) {
      build.onLoad({ filter: /[\\/]package\.json$/ }, async ({ path }) => {
        const manifest = JSON.parse(await readFile(path, 'utf8'));
        const isManifest = path === MANIFEST;
        return { contents: JSON.stringify(isManifest ? { ...manifest, version } : manifest), loader: 'json' };
      });
    },
  };
  await bundle({ compile: { outfile }, plugins: [withVersion] });
  return outfile;
}
