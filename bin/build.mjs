// build.mjs [--binary]: makes dist/, or one executable; run by the pinned Bun.
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const isBinary = process.argv.includes('--binary');
// An edit made while the build runs must count as newer than the build.
const beganAt = new Date();

/** Ink asks for the developer tools of React only when told to by a variable; they are not among the libraries. */
const withoutDevtools = {
  name: 'without-devtools',
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }));
    build.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {};', loader: 'js' }));
  },
};

/** What `ouro help` shows travels inside, because docs/ does not lie beside a build. */
const withPages = {
  name: 'with-pages',
  setup(build) {
    build.onLoad({ filter: /cli[\\/]commands[\\/]help-pages\.ts$/ }, () => {
      const docs = join(root, 'docs');
      const names = readdirSync(docs).filter((name) => name.endsWith('.md') && name !== 'README.md');
      const pages = names.toSorted().map((name) => [name.slice(0, -3), readFileSync(join(docs, name), 'utf8')]);
      return { contents: `export const helpPages = async () => new Map(${JSON.stringify(pages)});`, loader: 'js' };
    });
  },
};

const common = {
  entrypoints: [join(root, 'src', 'cli', 'main.ts')],
  target: 'bun',
  format: 'esm',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [withoutDevtools, withPages],
  // Found at run time beside the program: a binary of its own per platform, and WebAssembly that is loaded from its own folder.
  external: ['@vscode/ripgrep', '@silvia-odwyer/photon-node'],
};

mkdirSync(dist, { recursive: true });
const result = await (isBinary ? buildBinary() : buildBundle());
if (!result.success) {
  for (const message of result.logs) process.stderr.write(`${message}\n`);
  process.exit(1);
}

async function buildBundle() {
  const stamp = join(dist, '.stamp');
  // First of all, so that a build that is broken off is not taken for one.
  rmSync(stamp, { force: true });
  for (const name of readdirSync(dist)) if (name.endsWith('.js')) rmSync(join(dist, name));
  const built = await Bun.build({ ...common, outdir: dist, splitting: true });
  if (!built.success) return built;
  writeFileSync(stamp, '');
  utimesSync(stamp, beganAt, beganAt);
  const bytes = built.outputs.reduce((sum, { size }) => sum + size, 0);
  process.stdout.write(`dist/: ${built.outputs.length} files, ${(bytes / 1e6).toFixed(1)} MB\n`);
  return built;
}

async function buildBinary() {
  const outfile = join(dist, process.platform === 'win32' ? 'ouro.exe' : 'ouro');
  const built = await Bun.build({
    ...common,
    bytecode: true,
    compile: {
      outfile,
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (built.success) process.stdout.write(`${outfile}\n`);
  return built;
}
