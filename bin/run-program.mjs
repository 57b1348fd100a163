import { spawn } from 'node:child_process';

/** Runs a program with this terminal, signals and arguments, and exits the same way. */
export function runProgram(file, args, { cwd, env = process.env }) {
  // The terminal also sends these two to the program, which decides; this process only waits.
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {});
  // Listening before the program starts: a signal in between would end this process and leave the program behind.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const child = spawn(file, args, { cwd, env, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (signal === null) return resolve(code ?? 1);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}
