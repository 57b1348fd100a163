import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { outputOf } from '../../lib/processes/run-program.ts';

/** A package of npm, by what npm itself calls it. */
export type PackageSource = {
  readonly name: string;
  readonly version?: string;
  readonly registry?: string;
};

const FETCH_MS = 300_000;
const packed = z.array(z.looseObject({ filename: z.string(), version: z.string() })).min(1);

/**
 * Brings a package into a folder of ours, in the place of what was there, and answers with its version. npm fetches it, with
 * the person's own settings; nothing of the package runs, and what it depends on is not fetched.
 */
export async function fetchPackage(
  { name, version = 'latest', registry }: PackageSource,
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const fresh = await mkdtemp(join(dirname(folder), '.fetch-'));
  const run = (program: string, ...args: readonly string[]) =>
    outputOf(program, args, { cwd: fresh, env: variables, timeoutMs: FETCH_MS });
  try {
    const where = registry === undefined ? [] : [`--registry=${registry}`];
    const told = await run(
      'npm',
      'pack',
      `${name}@${version}`,
      '--json',
      '--ignore-scripts',
      '--loglevel=error',
      ...where,
    );
    const [{ filename, version: found } = { filename: '', version }] = packed.parse(JSON.parse(told));
    const content = join(fresh, 'content');
    await mkdir(content);
    // The name of a package with a scope is told with a slash by some versions of npm, and written without.
    const archive = join(fresh, filename.replace(/^@/, '').replaceAll('/', '-'));
    await run('tar', '-xzf', archive, '-C', content, '--strip-components=1', '--no-same-owner');
    await rm(folder, { recursive: true, force: true });
    await rename(content, folder);
    return found;
  } catch (thrown) {
    const words = thrown instanceof Error ? thrown.message.split('\n').slice(0, 4).join(' ') : String(thrown);
    throw new Error(`${name} could not be fetched from npm: ${words}`, { cause: thrown });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
