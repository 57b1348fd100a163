import { type ApiServer, type Script, startApiServer } from '../api/server.ts';
import { terminalEnvironment } from '../environment.ts';
import { LAUNCHER } from '../run-ouro.ts';
import { createTempProject, type TempProject } from '../temp-project.ts';
import type { ScreenSize } from './terminal-screen.ts';
import { openTerminal, type VirtualTerminal } from './virtual-terminal.ts';

/** ouro on a real terminal, in front of a scripted API. */
export type OpenOuro = {
  readonly project: TempProject;
  readonly api: ApiServer;
  readonly terminal: VirtualTerminal;
  /** Another terminal in the same project: the next start. */
  again(args?: readonly string[]): VirtualTerminal;
  [Symbol.asyncDispose](): Promise<void>;
};

export type OpenSettings = Partial<ScreenSize> & {
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: object;
  readonly args?: readonly string[];
  /** Text on the screen when it is ready. */
  readonly ready?: RegExp;
  readonly background?: 'dark' | 'light' | 'mute';
  /** Run in place of the launcher: a shell that starts it, for example. */
  readonly command?: readonly string[];
};

export async function openOuro(turns: Script['turns'], settings: OpenSettings = {}): Promise<OpenOuro> {
  const { cols = 80, rows = 24, ready = /^[▌|]/m, args = [], command = [LAUNCHER, ...args] } = settings;
  const project = await createTempProject();
  const api = await startApiServer({ turns });
  if (settings.settings !== undefined) {
    await project.write('../home/.ouro/settings.json', JSON.stringify(settings.settings));
  }
  const env = { ...terminalEnvironment(project, api.url), ...settings.env };
  const opened: VirtualTerminal[] = [];
  const open = (words: readonly string[]) => {
    const { background = 'dark' } = settings;
    const terminal = openTerminal(words, { cwd: project.dir, env, cols, rows, background });
    opened.push(terminal);
    return terminal;
  };
  const terminal = open(command);
  await terminal.waitForText(ready);
  return {
    project,
    api,
    terminal,
    again: (more = []) => open([LAUNCHER, ...more]),
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((one) => one.kill()));
      await api.close();
      await project.remove();
    },
  };
}
