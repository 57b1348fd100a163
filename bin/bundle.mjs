import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Replaces React's developer tools, which Ink imports only if a variable is set; they are not a dependency. */
const withoutDevtools = {
  name: 'without-devtools',
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }));
    build.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {};', loader: 'js' }));
  },
};

/** Bundles the pages of `ouro help`, because docs/ is not part of a build. */
const withPages = {
  name: 'with-pages',
  setup(build) {
    build.onLoad({ filter: /cli[\\/]commands[\\/]help-pages\.ts$/ }, () => {
      const docs = join(root, 'docs');
      const names = readdirSync(docs).filter((name) => name.endsWith('.md') && name !== 'README.md');
      const pages = names.toSorted().map((name) => [name.slice(0, -3), readFileSync(join(docs, name), 'utf8')]);
      return { contents: `export const loadHelpPages = async () => new Map(${JSON.stringify(pages)});`, loader: 'js' };
    });
  },
};

/** Bundles the tasks of `ouro eval`. */
const withTasks = {
  name: 'with-tasks',
  setup(build) {
    build.onLoad({ filter: /eval[\\/]src[\\/]shipped-tasks\.ts$/ }, () => {
      const folder = join(root, 'packages', 'eval', 'src', 'tasks');
      const names = readdirSync(folder)
        .filter((name) => name.endsWith('.yaml'))
        .toSorted();
      const tasks = names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
      return {
        contents: `export const readShippedEvalTasks = async () => new Map(${JSON.stringify(tasks)});`,
        loader: 'js',
      };
    });
  },
};

/** Bundles the image decoder with its WebAssembly, which it would read from its own folder. */
const withDecoder = {
  name: 'with-decoder',
  setup(build) {
    build.onLoad({ filter: /photon_rs\.js$/ }, ({ path }) => {
      const bytes = readFileSync(path.replace(/\.js$/, '_bg.wasm')).toString('base64');
      const [before, after, ...more] = readFileSync(path, 'utf8').split("require('fs').readFileSync(path)");
      if (after === undefined || more.length > 0) throw new Error(`${path} does not read its WebAssembly as expected.`);
      const text = `${before}Buffer.from('${bytes}', 'base64')${after}`;
      // In a function, because Bun turns plain CommonJS into an ES module, whose `module.exports` it does not define.
      const contents = `const own = { exports: {} };\n((module) => {${text}\n})(own);\nmodule.exports = own.exports;`;
      return { contents, loader: 'js' };
    });
  },
};

const OPTIONS = {
  entrypoints: [join(root, 'src', 'cli', 'main.ts')],
  target: 'bun',
  format: 'esm',
  minify: true,
  // Unused chunks are not even read.
  splitting: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [withoutDevtools, withPages, withTasks, withDecoder],
};

/** Bundles the program. */
export async function bundle(options) {
  const plugins = [...OPTIONS.plugins, ...(options.plugins ?? [])];
  const built = await Bun.build({ ...OPTIONS, ...options, plugins });
  if (built.success) return built;
  throw new Error(built.logs.join('\n'));
}

/**
 * Builds an executable with runtime and bytecode. Bun supports bytecode for executables only; it halves the start.
 * `target` is the name of its system, `runtime` the runtime of another one.
 */
export async function buildExecutable(file, { target, runtime }) {
  // A temporary name until the executable is complete and, if it is for this machine, runs.
  const unproven = join(dirname(file), `unproven-${process.pid}${extname(file)}`);
  const base = join(dirname(file), `runtime-${process.pid}${extname(file)}`);
  const autoload = {
    autoloadDotenv: false,
    autoloadBunfig: false,
    autoloadTsconfig: false,
    autoloadPackageJson: false,
  };
  const foreign = runtime === undefined ? {} : { target: runtime.target };
  const compile = { outfile: unproven, executablePath: base, ...autoload, ...foreign };
  try {
    writeRuntimeWithOwnVariables(runtime?.file ?? process.execPath, base);
    const define = { ...OPTIONS.define, 'process.env.OURO_TARGET': JSON.stringify(target) };
    await bundle({ bytecode: true, compile, define });
    if (runtime === undefined) checkThatItRuns(unproven);
    renameSync(unproven, file);
  } finally {
    rmSync(unproven, { force: true });
    rmSync(base, { force: true });
  }
}

/**
 * Variables for the user's own Bun, which add flags, such as a preload that is missing here, or make an executable a
 * plain runtime, and the names of the same length that an executable has for them.
 */
const VARIABLES = { BUN_OPTIONS: 'OUR_OPTIONS', BUN_BE_BUN: 'OUR_BE_BUN' };

/** Copies a runtime with other names of these variables; it has no flag to ignore them. */
function writeRuntimeWithOwnVariables(from, to) {
  const bytes = readFileSync(from);
  for (const [name, own] of Object.entries(VARIABLES)) {
    let found = bytes.indexOf(name);
    if (found < 0) throw new Error(`${from} does not know ${name} any more.`);
    for (; found >= 0; found = bytes.indexOf(name, found)) bytes.write(own, found);
  }
  writeFileSync(to, bytes);
  chmodSync(to, 0o755);
}

/** Throws if an executable does not run on this machine. */
export function checkThatItRuns(file) {
  const { status, stderr, error } = spawnSync(file, ['--version'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The executable does not run here. ${error?.message ?? stderr}`);
}
