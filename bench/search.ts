import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import type { JsonObject } from '../src/contracts/json.ts';
import type { Tool } from '../src/contracts/tool.ts';
import { createGlobTool } from '../src/tools/glob.ts';
import { createGrepTool } from '../src/tools/grep.ts';
import { createSearchBackend } from '../src/tools/search/create-search-backend.ts';
import { callTool } from '../test/support/call-tool.ts';
import { type Measure, median, type Row } from './row.ts';

const FOLDERS = 1000;
const FILES_EACH = 100;
const ROUNDS = 9;
const run = promisify(execFile);

export const search: Measure = {
  name: 'search',
  description: `Grep and Glob on ${FOLDERS * FILES_EACH} files, compared with ripgrep`,
  async run() {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'ouro-bench-')));
    try {
      await createTree(root);
      return await measure(root);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
};

/** Creates a tree of small files; one per folder contains the searched word. */
async function createTree(root: string): Promise<void> {
  const line = 'some words that stand in every file and match nothing in particular\n';
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    const dir = join(root, `part-${folder % 20}`, `folder-${folder}`);
    await mkdir(dir, { recursive: true });
    const names = Array.from({ length: FILES_EACH }, (_, at) => `file-${at}.${at % 4 === 0 ? 'ts' : 'md'}`);
    await Promise.all(names.map((name, at) => writeFile(join(dir, name), at === 7 ? `${line}needle\n` : line)));
  }
}

async function measure(root: string): Promise<readonly Row[]> {
  const parts = { locator: createSearchBackend(process.env), home: root, excluded: () => [] };
  const [grep, glob] = [createGrepTool(parts), createGlobTool(parts)];
  const rg = (...args: readonly string[]) =>
    run(rgPath, [...args, root], { maxBuffer: 2 ** 28 }).then(
      () => undefined,
      // ripgrep exits with 1 if nothing matches.
      () => undefined,
    );
  const use = (tool: Tool, input: JsonObject) => callTool(tool, input, { cwd: root }).then(() => undefined);
  const pairs = [
    ['Grep, no match', 1.1, () => use(grep, { pattern: 'nowhere-at-all' }), () => rg('-l', '-e', 'nowhere-at-all')],
    ['Grep, 1,000 files match', undefined, () => use(grep, { pattern: 'needle' }), () => rg('-l', '-e', 'needle')],
    ['Glob, 25,000 of them', 1.25, () => use(glob, { pattern: '**/*.ts' }), () => rg('--files')],
  ] as const;
  const rows: Row[] = [];
  for (const [name, must, searchWithTool, searchWithRipgrep] of pairs) {
    // Alternating, so that other load on the machine affects both.
    const ratios: number[] = [];
    const times: number[] = [];
    await Promise.all([searchWithTool(), searchWithRipgrep()]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const [a, b] = [await clock(searchWithTool), await clock(searchWithRipgrep)];
      times.push(a);
      ratios.push(a / b);
    }
    rows.push({
      name: `${name} / ripgrep`,
      unit: 'times',
      value: median(ratios),
      ...(must !== undefined && { must }),
      floor: 1,
    });
    rows.push({ name, unit: 'ms', value: median(times) });
  }
  return rows;
}

async function clock(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
