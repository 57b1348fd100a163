// build.mjs [--binary]: makes dist/, with one executable too when asked; run by the pinned Bun.
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
const bytes = bundled.outputs.reduce((sum, { size }) => sum + size, 0);
process.stdout.write(`dist/: ${bundled.outputs.length} files, ${(bytes / 1e6).toFixed(1)} MB\n`);

if (process.argv.includes('--binary')) {
  // It holds the runtime and bytecode, which the runtime offers for executables only: twice as fast a start.
  finished(
    await Bun.build({
      ...common,
      bytecode: true,
      // What is not asked for is not even read.
      splitting: true,
      compile: {
        outfile: join(dist, executable),
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
    }),
  );
  process.stdout.write(`dist/${executable}: one file that needs no other\n`);
}

writeFileSync(stamp, '');
utimesSync(stamp, beganAt, beganAt);

function finished(built) {
  if (built.success) return built;
  for (const message of built.logs) process.stderr.write(`${message}\n`);
  process.exit(1);
}
