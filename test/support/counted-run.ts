import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ApiTurn, says } from './api/reply.ts';
import { startApiServer } from './api/server.ts';
import { bareEnvironment } from './environment.ts';
import { createTempProject } from './temp-project.ts';

const PRELOAD = join(import.meta.dirname, 'record-calls.mjs');
/** Never the build, whose functions cannot be told apart. */
const SOURCES = join(import.meta.dirname, '../../src/cli/main.ts');

/** The calls of each function by `path:line name`. */
export type CallCounts = Readonly<Record<string, number>>;

export type CountedRun = {
  /** The texts given to the shell parser. */
  readonly parsed: readonly string[];
  readonly calls: CallCounts;
};

/** Runs the sources with a prompt and counts the calls of every function; after these turns the model is done. */
export async function runCounted(turns: readonly ApiTurn[], ...args: readonly string[]): Promise<CountedRun> {
  await using project = await createTempProject({ 'a.txt': 'alpha\n' });
  await using api = await startApiServer({ turns: [...turns, says('done')] });
  const file = join(project.dir, '../recorded.json');
  const run = promisify(execFile)(process.execPath, ['--preload', PRELOAD, SOURCES, '-p', 'go', ...args], {
    cwd: project.dir,
    env: { ...bareEnvironment(project, api.url), RECORD_CALLS: file },
  });
  run.child.stdin?.end();
  await run;
  const recorded: CountedRun = JSON.parse(await readFile(file, 'utf8'));
  return recorded;
}

/** Returns how much more often each function was called in the first run. */
export function subtractCounts(counts: CallCounts, other: CallCounts): CallCounts {
  const names = new Set([...Object.keys(counts), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names]
      .map((name) => [name, (counts[name] ?? 0) - (other[name] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  );
}

export function sumCounts(counts: CallCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Lists the files in which a function was called. */
export function listEnteredFiles(counts: CallCounts): readonly string[] {
  return [...new Set(Object.keys(counts).map((name) => name.replace(/:.*/s, '')))].toSorted();
}
