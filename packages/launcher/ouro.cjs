#!/usr/bin/env node
// Starts the executable of the platform package that the package manager installed. Runs on every Node from 18.
'use strict';
const { spawn } = require('node:child_process');
const { dirname, join } = require('node:path');
const { name, optionalDependencies } = require('../package.json');

const SCOPE = name.split('/')[0];
/** Settings of the runtime; bin/ouro in the repository explains them. */
const RUNTIME_SETTINGS = {
  BUN_GC_TIMER_INTERVAL: '60000',
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForJITAfterWarmUp: '2000',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '4000',
  BUN_JSC_jitMemoryReservationSize: '5242880',
  BUN_JSC_maximumFunctionForCallInlineCandidateBytecodeCostForDFG: '0',
};

const file = findExecutable();
if (file === undefined) {
  process.stderr.write(`ouro: ${explainMissing()}\n`);
  process.exitCode = 1;
} else {
  run(file, process.argv.slice(2), { ...RUNTIME_SETTINGS, ...process.env });
}

/** Returns the executable of the first installed package for this machine. */
function findExecutable() {
  const program = process.platform === 'win32' ? 'ouro.exe' : 'ouro';
  const found = packageNames().flatMap((one) => {
    try {
      return [join(dirname(require.resolve(`${one}/package.json`)), 'bin', program)];
    } catch {
      return [];
    }
  });
  // Old package managers install both Linux packages, because they ignore which C library a package needs.
  return found.length > 1 && isMusl() ? found[1] : found[0];
}

function packageNames() {
  const base = `${SCOPE}/${process.platform}-${process.arch}`;
  return [base, `${base}-musl`].filter((one) => one in optionalDependencies);
}

function isMusl() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

function explainMissing() {
  const [first] = packageNames();
  if (first === undefined) return `no executable exists for ${process.platform} on ${process.arch}.`;
  return `the package ${first} is not installed. Install ${name} again, with optional dependencies.`;
}

/** Replaces this process with the program where Node can; otherwise starts it and ends the same way. */
function run(program, args, env) {
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    // Node warns that this function is experimental.
    process.emitWarning = () => {};
    process.execve(program, [program, ...args], env);
  }
  const child = spawn(program, args, { env, stdio: 'inherit' });
  // The terminal also sends these two to the program, which decides; this process only waits.
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`ouro: ${program} could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
