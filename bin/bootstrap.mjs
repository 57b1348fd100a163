// Entry point of a bare clone. Uses Node's own modules only, because nothing else is installed yet.
// bootstrap.mjs start|test|check|lint|run <file> [arguments]
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AS_SHIPPED, check, TEST_RUNTIME } from './check.mjs';
import { build, programOf } from './entry.mjs';
import { ensureInstalled } from './install.mjs';
import { withoutNpm } from './npm-environment.mjs';
import { runProgram } from './run-program.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [verb, ...rest] = process.argv.slice(2);

// As in bin/ouro: what the user has set for Bun is not for this one. Commands that ouro runs get it back.
for (const name of ['BUN_OPTIONS', 'BUN_INSPECT_PRELOAD']) {
  if (process.env[name]) process.env[`OURO_${name}`] = process.env[name];
  delete process.env[name];
}
delete process.env.BUN_BE_BUN;

/** Explicit configuration files: the .env, bunfig and tsconfig of the working directory may be hostile. */
const safeFlags = [
  '--no-env-file',
  `--config=${join(root, 'bunfig.toml')}`,
  `--tsconfig-override=${join(root, 'tsconfig.json')}`,
];

const asShipped = [...safeFlags, AS_SHIPPED];

/** Settings of the runtime; bin/ouro explains them. */
const RUNTIME_SETTINGS = {
  BUN_GC_TIMER_INTERVAL: '60000',
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForJITAfterWarmUp: '2000',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '4000',
  BUN_JSC_jitMemoryReservationSize: '5242880',
  BUN_JSC_maximumFunctionForCallInlineCandidateBytecodeCostForDFG: '0',
};

/** Sets the folder of the runtime's transpiler cache, as bin/ouro does. */
function transpilerCache({ HOME, XDG_CACHE_HOME }) {
  const path = HOME && existsSync(HOME) ? join(XDG_CACHE_HOME || join(HOME, '.cache'), 'ouro') : '0';
  return { BUN_RUNTIME_TRANSPILER_CACHE_PATH: path };
}

/** Returns the working directory of the user, from which the program is started. */
function workingDirectory() {
  try {
    return process.cwd();
  } catch {
    throw new Error('The working directory does not exist any more. Change to another folder.');
  }
}

const verbs = {
  start: (bun) => {
    const { cwd, env } = withoutNpm(root, process.env, workingDirectory());
    // Bytes that are no text are replaced, and that folder does not exist.
    if (cwd.includes('\ufffd') && !existsSync(cwd)) {
      throw new Error(`The working directory has a name that is not UTF-8: ${cwd}. Change to another folder.`);
    }
    const { file, args } = programOf(root, bun, asShipped);
    return runProgram(file, [...args, ...rest], {
      cwd,
      env: { ...RUNTIME_SETTINGS, ...transpilerCache(env), ...env },
    });
  },
  test: (bun) =>
    runProgram(bun, [...asShipped, join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...rest], {
      cwd: root,
      env: { ...TEST_RUNTIME, ...process.env },
    }),
  lint: (bun) => check(root, bun, safeFlags, { tests: 'skip' }),
  check: (bun) => check(root, bun, safeFlags, { tests: 'run' }),
  run: (bun) => runProgram(bun, [...safeFlags, join(root, rest[0] ?? ''), ...rest.slice(1)], { cwd: root }),
};

try {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Error(`This is Node ${process.versions.node}, ouro needs Node 20 or newer. Install it from nodejs.org.`);
  }
  if (process.platform === 'linux' && !existsSync('/proc/self')) {
    throw new Error('/proc is not mounted, and the runtime needs it. Mount it, then try again.');
  }
  if (!Object.hasOwn(verbs, verb ?? '')) {
    throw new Error(`"${verb ?? ''}" is not a command of the bootstrap. Use start, test, check, lint or run <file>.`);
  }
  process.exitCode = await verbs[verb](await ensureInstalled(root, (bun) => build(root, bun, safeFlags)));
} catch (error) {
  process.stderr.write(`ouro: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
