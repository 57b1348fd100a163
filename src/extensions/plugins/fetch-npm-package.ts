import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { exemptLoopback } from '../../lib/network/resolve-proxy.ts';
import { runForOutput } from '../../lib/processes/run-program.ts';

/** A package of an npm registry. */
export type NpmPackage = {
  readonly name: string;
  readonly version?: string;
  readonly registry?: string;
};

const FETCH_TIMEOUT_MS = 300_000;
const packOutput = z.array(z.looseObject({ filename: z.string(), version: z.string() })).min(1);

/**
 * Fetches a package with npm and replaces the folder with it; returns its version. The user's npm settings apply; no
 * script of the package runs, and its dependencies are not fetched.
 */
export async function fetchNpmPackage(
  { name, version = 'latest', registry }: NpmPackage,
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const tempFolder = await mkdtemp(join(dirname(folder), '.fetch-'));
  const run = (program: string, ...args: readonly string[]) =>
    runForOutput(program, args, { cwd: tempFolder, env: exemptLoopback(variables), timeoutMs: FETCH_TIMEOUT_MS });
  try {
    const registryFlag = registry === undefined ? [] : [`--registry=${registry}`];
    const output = await run(
      'npm',
      'pack',
      `${name}@${version}`,
      '--json',
      '--ignore-scripts',
      '--loglevel=error',
      ...registryFlag,
    );
    const [{ filename, version: found } = { filename: '', version }] = packOutput.parse(JSON.parse(output));
    const content = join(tempFolder, 'content');
    await mkdir(content);
    // Some versions of npm print the file name of a scoped package with a slash but write it without.
    const archive = join(tempFolder, filename.replace(/^@/, '').replaceAll('/', '-'));
    await run('tar', '-xzf', archive, '-C', content, '--strip-components=1', '--no-same-owner');
    await rm(folder, { recursive: true, force: true });
    await rename(content, folder);
    return found;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message.split('\n').slice(0, 4).join(' ') : String(thrown);
    throw new Error(`${name} could not be fetched from npm: ${message}`, { cause: thrown });
  } finally {
    await rm(tempFolder, { recursive: true, force: true });
  }
}
