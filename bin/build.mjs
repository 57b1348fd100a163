// build.mjs [--binary]: makes dist/, with one executable too when asked; run by the pinned Bun.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const executable = process.platform === 'win32' ? 'ouro.exe' : 'ouro';
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
};

mkdirSync(dist, { recursive: true });
const stamp = join(dist, '.stamp');
// First of all, so that a build that is broken off is not taken for one; and an executable must not outlive its bundle.
rmSync(stamp, { force: true });
for (const name of readdirSync(dist)) if (name.endsWith('.js') || name === executable) rmSync(join(dist, name));

const bundled = finished(await Bun.build({ ...common, outdir: dist, splitting: true }));
await writeParts(bundled.outputs);
const bytes = bundled.outputs.reduce((sum, { size }) => sum + size, 0);
process.stdout.write(`dist/: ${bundled.outputs.length} files, ${(bytes / 1e6).toFixed(1)} MB\n`);

writeFileSync(stamp, '');
utimesSync(stamp, beganAt, beganAt);
if (process.argv.includes('--binary')) await buildExecutable();

/** All of it once more in one file, which a running ouro holds open: an update may take the others away. */
async function writeParts(outputs) {
  const parts = await Promise.all(outputs.map(async (output) => [basename(output.path), await output.text()]));
  writeFileSync(join(dist, 'parts.json.gz'), gzipSync(JSON.stringify(Object.fromEntries(parts))));
}

/** It holds the runtime and bytecode, which the runtime offers for executables only: twice as fast a start. */
async function buildExecutable() {
  // Under a name of its own until it is whole and has shown that it runs here.
  const unproven = join(dist, `unproven-${process.pid}${extname(executable)}`);
  try {
    const autoload = {
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    };
    const compile = { outfile: unproven, ...autoload };
    // With splitting, what is not asked for is not even read.
    finished(await Bun.build({ ...common, bytecode: true, splitting: true, compile }));
    const { status, stderr } = spawnSync(unproven, ['--version'], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`The executable does not run here. ${stderr}`);
    renameSync(unproven, join(dist, executable));
  } finally {
    rmSync(unproven, { force: true });
  }
  process.stdout.write(`dist/${executable}: one file that needs no other\n`);
}

function finished(built) {
  if (built.success) return built;
  throw new Error(built.logs.join('\n'));
}
