import { type ExecFileOptions, execFile } from 'node:child_process';

/** Runs a program to its end and gives what it printed; rejects when it fails. Loads nothing that is not needed anyway. */
export function runFile(file: string, args: readonly string[], options: ExecFileOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, [...args], { ...options, encoding: 'utf8' }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
  });
}
