// build-library.mjs: makes dist/lib/, what `import 'ouro'` finds: ESM with declarations and source maps.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const lib = join(root, 'dist', 'lib');
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

rmSync(lib, { recursive: true, force: true });
const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.lib.json')], {
  encoding: 'utf8',
});
if (status !== 0) throw new Error(`The library could not be built:\n${stdout}`);

// The compiler leaves the names of sources in declarations, which are not there.
const declarations = readdirSync(lib, { recursive: true }).filter((name) => name.endsWith('.d.ts'));
for (const name of declarations) {
  const file = join(lib, name);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/((?:from|import\()\s*['"]\.{1,2}\/[^'"]+)\.tsx?(['"])/g, '$1.js$2'));
}
process.stdout.write(`dist/lib/: ${declarations.length} modules\n`);
