/**
 * build-library.mjs: builds the library. `dist/lib/` are its modules, compiled one by one; `packages/agent/dist/` is the
 * package `@ouro-cli/agent`: the entries with what they need from other packages, their declarations, and the reference
 * `API.md`. Run by the pinned Bun.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { renderApiPage } from './api-page.ts';
import { collectLicenses } from './licenses.mjs';

const root = join(import.meta.dirname, '..');
const lib = join(root, 'dist', 'lib');
const target = join(root, 'packages', 'agent');
const manifest = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
/** The only file of the sources that the compiler does not know. */
const CATALOGUE = join('model', 'registry', 'catalogue.jsonl');
const entries = Object.values(manifest.exports).filter((entry) => typeof entry === 'object');

/** Leaves out the tools of the provider's client, which need Node and are never used. */
const withoutToolset = {
  name: 'without-toolset',
  setup(build) {
    build.onResolve({ filter: /agent-toolset\/node/ }, () => ({ path: 'agent-toolset', namespace: 'empty' }));
    build.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export {};', loader: 'js' }));
  },
};

const REQUIRE = `import { createRequire } from 'node:module';\nexport const __require = createRequire(import.meta.url);\n`;

compile();
await bundle();
copyDeclarations();
writeFileSync(join(target, 'dist', 'API.md'), renderApiPage());

/** Compiles the modules, with declarations. */
function compile() {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  rmSync(lib, { recursive: true, force: true });
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.lib.json')], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The library could not be built:\n${stdout}`);
  cpSync(join(root, 'src', CATALOGUE), join(lib, CATALOGUE));
  // The compiler keeps the source extensions in the import paths of declarations.
  for (const name of readdirSync(lib, { recursive: true }).filter((file) => file.endsWith('.d.ts'))) {
    const file = join(lib, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/((?:from|import\()\s*['"]\.{1,2}\/[^'"]+)\.tsx?(['"])/g, '$1.js$2'));
  }
}

/** Bundles the entries. Modules that browsers replace are entries too, so that they keep their paths. */
async function bundle() {
  const dist = join(target, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const replaced = Object.entries(manifest.browser).flat();
  const paths = new Set([...entries.map((entry) => entry.default), ...replaced]);
  const built = await Bun.build({
    entrypoints: [...paths].map((path) => join(lib, path.replace('./dist/', ''))),
    root: lib,
    target: 'node',
    format: 'esm',
    splitting: true,
    // Names and lines stay: Node prints the line that an error comes from.
    minify: { syntax: true },
    sourcemap: 'external',
    naming: { entry: '[dir]/[name].[ext]', chunk: 'chunks/[name]-[hash].[ext]' },
    external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    plugins: [withoutToolset],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const sources = new Set();
  for (const output of built.outputs) {
    const text = await output.text();
    if (output.path.endsWith('.map')) {
      for (const source of JSON.parse(text).sources) sources.add(source);
      continue;
    }
    const file = join(dist, output.path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, separateRequire(text.replace(/\n?\/\/# (?:debugId|sourceMappingURL)=\S+\s*/g, '\n')));
  }
  writeFileSync(join(dist, 'chunks', 'require.js'), REQUIRE);
  writeFileSync(join(dist, 'THIRD-PARTY.txt'), collectLicenses(root, sources));
}

/**
 * Moves `require` for bundled CommonJS modules into a file of its own. The bundler puts it beside helpers that browsers
 * load as well, and they have no `node:module`.
 */
function separateRequire(text) {
  const withoutRequire = (names) =>
    names
      .split(',')
      .filter((name) => !['', '__require'].includes(name.trim()))
      .join(',');
  return text
    .replace(/import\s*\{\s*createRequire\s*\}\s*from\s*"node:module";/, '')
    .replace(/var __require\s*=\s*(?:\/\*[^*]*\*\/\s*)?createRequire\(import\.meta\.url\);/, '')
    .replace(/export\s*\{([^}]*\b__require\b[^}]*)\}/, (_, names) => `export {${withoutRequire(names)}}`)
    .replace(
      /import\s*\{([^}]*\b__require\b[^}]*)\}\s*from\s*"([^"]*\/)/,
      (_, names, folder) =>
        `import { __require } from "${folder}require.js";\nimport {${withoutRequire(names)}} from "${folder}`,
    );
}

/** Copies the declarations that the entries reach. */
function copyDeclarations() {
  const types = join(target, 'dist', 'types');
  const waiting = entries.map((entry) => join(lib, entry.types.replace('./dist/types/', '')));
  const found = new Set();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file) || !existsSync(file)) continue;
    found.add(file);
    cpSync(file, join(types, relative(lib, file)));
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.{1,2}\/[^'"]+)\.js['"]/g))
      waiting.push(join(dirname(file), `${path}.d.ts`));
  }
  process.stdout.write(`packages/agent/dist/: ${entries.length} entries, ${found.size} declarations\n`);
}
