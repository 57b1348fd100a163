import { spawn } from 'node:child_process';

/** Hands terminal, signals and arguments to a program and ends the way it ended. */
export function runProgram(file, args, { cwd, env = process.env }) {
  const child = spawn(file, args, { cwd, env, stdio: 'inherit' });
  // The terminal sends these two to the program as well; it decides, we only wait for it.
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (signal === null) return resolve(code ?? 1);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}
