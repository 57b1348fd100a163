import { isPathBelow } from '../files/path-style.ts';
import type { ProgramCheck } from '../processes/program-check.ts';
import { isChangeableByOthers, listProgramFiles } from './program-files.ts';

/**
 * Starts only what nobody but the user can change: no file in the working directory, which is where a model, commands and
 * repositories write. For commands of the user's settings that hand out keys, which need no file of a project.
 */
export const startOutsideWorkspace: ProgramCheck = async (start) => {
  const isChangeable = (path: string) => isPathBelow(start.cwd, path) || isChangeableByOthers(path);
  const [file] = start.cwd === '/' || start.cwd === start.variables.HOME ? [] : listProgramFiles(start, isChangeable);
  if (file === undefined)
    return { ok: true, wrap: process.platform === 'win32' ? (argv) => argv : (argv) => [...IN_ROOT, ...argv] };
  return {
    ok: false,
    problem: `${file.path} is not started, since others could change it; move it to a folder of your own`,
  };
};

const IN_ROOT = ['/bin/sh', '-c', 'cd / && exec "$@"', 'sh'];
