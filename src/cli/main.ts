import { accessSync, constants, existsSync, writeSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { getErrnoCode, getErrorPhrase } from '../lib/errors.ts';
import { restartWithRuntimeSettings } from '../lib/processes/runtime-settings.ts';
import { describeStdoutFailure, isStdoutClosed } from '../lib/processes/stdout-failure.ts';

const args = process.argv.slice(2);

// Shell startup scripts ask for the version, so nothing else is loaded for it.
if (args.length === 1 && ['--version', '-v', '-V'].includes(args[0] ?? '')) {
  process.stdout.on('error', reportFailure);
  if (isStdoutClosed()) reportFailure('closed');
  else process.stdout.write(`${manifest.version}\n`);
} else if (hasWorkingDirectory()) {
  // A short run would not earn back the time of the restart.
  if (process.stdin.isTTY && process.stdout.isTTY) restartWithRuntimeSettings(process);
  const { runCli } = await import('./run-cli.ts');
  await runCli(args);
}

/** Reports a working directory that cannot be named. Without one, even the standard streams fail. */
function hasWorkingDirectory(): boolean {
  const problem = findDirectoryProblem();
  if (problem === undefined) return true;
  writeSync(2, `The working directory ${problem}. Change to another folder.\n`);
  process.exitCode = 1;
  return false;
}

function findDirectoryProblem(): string | undefined {
  try {
    // Bytes that are not text are replaced, and that folder does not exist.
    const path = process.cwd();
    if (path.includes('\ufffd') && !existsSync(path)) return `has a name that is not UTF-8: ${path}`;
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (thrown) {
    const code = getErrnoCode(thrown);
    if (code === 'ENOENT') return 'does not exist any more';
    return code === 'ERANGE' ? 'has a path that is too long' : `cannot be used: ${getErrorPhrase(thrown)}`;
  }
}

function reportFailure(failure: Error | 'closed'): void {
  process.stderr.write(`${describeStdoutFailure(failure)}\n`);
  process.exitCode = 1;
}
