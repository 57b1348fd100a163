import { readEnvironment } from '../../src/app/environment.ts';
import type { Io } from '../../src/cli/io.ts';
import { createShutdown } from '../../src/cli/shutdown.ts';
import { runToCode } from '../../src/cli/start.ts';
import { bareEnvironment, withSettings } from './environment.ts';
import type { RunSettings } from './run-ouro.ts';
import type { TempProject } from './temp-project.ts';

/** As for a process, but nobody can be waited for on stdin. */
type HereSettings = Omit<RunSettings, 'stdin'> & { readonly stdin?: string };

export type HereEnd = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** The whole program from its arguments to its exit code, in this process: everything real but the process itself. */
export async function runHere(
  project: TempProject,
  args: readonly string[],
  apiUrl?: string,
  settings: HereSettings = {},
): Promise<HereEnd> {
  const said = { stdout: '', stderr: '' };
  const { stdin, cwd = project.dir } = settings;
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    if (stdin !== undefined) yield new TextEncoder().encode(stdin);
  }
  const io: Io = {
    cwd,
    environment: readEnvironment(withSettings(bareEnvironment(project, apiUrl), settings.env)),
    stdin: { isTty: false, kind: stdin === undefined ? 'none' : 'stream', chunks },
    stdout: {
      isTty: false,
      columns: () => 80,
      write: (text) => {
        said.stdout += text;
      },
      trouble: () => undefined,
      flushed: async () => undefined,
      onClosed: () => undefined,
    },
    stderr: {
      isTty: false,
      write: (text) => {
        said.stderr += text;
      },
    },
  };
  const shutdown = createShutdown({ onSignal: () => () => undefined, exit: () => undefined });
  const code = await runToCode(args, io, shutdown);
  await shutdown.finish();
  return { code, ...said };
}
