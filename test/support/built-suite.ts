import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const TESTS = join(import.meta.dirname, '..');
/** The tests of the loop and of the agent around it. */
const SUITE = ['engine', 'agent', 'termination.test.ts'];
/** Looks at requests with a report of the terminal, which is no part of the package. */
const NOT_OF_THE_PACKAGE = 'engine/query-state.test.ts';
/** They try fewer cases here: that they hold at all is shown by the sources. */
const CONFIG = `export default {
  test: { include: ['suite/**/*.test.ts'], pool: 'threads', isolate: false, testTimeout: 60_000, env: { OURO_TEST_TIMES: '0.05' } },
};
`;

/** Writes the test suite of the engine into a project, with imports of the built modules. */
export async function writeBuiltSuite(project: string): Promise<readonly string[]> {
  const built = join(TESTS, '../dist/lib');
  const files = withImports(SUITE.flatMap(filesIn).filter((name) => name !== NOT_OF_THE_PACKAGE));
  for (const name of files) {
    const text = readFileSync(join(TESTS, name), 'utf8');
    const target = join(project, 'suite', name);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(
      target,
      text.replace(/'(?:\.\.\/)+src\/([^']+)\.tsx?'/g, (_, module: string) => `'${join(built, module)}.js'`),
    );
  }
  await writeFile(join(project, 'vitest.config.mjs'), CONFIG);
  return files.filter((name) => name.endsWith('.test.ts'));
}

function filesIn(name: string): readonly string[] {
  if (statSync(join(TESTS, name)).isFile()) return [name];
  return readdirSync(join(TESTS, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(name, file));
}

/** Files of tests, and whatever of tests they stand on. */
function withImports(names: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const text = readFileSync(join(TESTS, name), 'utf8');
    for (const [, target = ''] of text.matchAll(/ from '(\.{1,2}\/[^']+)'/g)) {
      const path = join(dirname(name), target);
      if (!path.startsWith('..')) waiting.push(path);
    }
  }
  return [...found];
}
