import { join } from 'node:path';
import type { Tool } from '../contracts/tool.ts';
import { type BashParts, createBashTool } from '../tools/bash/bash.ts';
import { createBashOutputTool } from '../tools/bash-output/bash-output.ts';
import { createEditTool } from '../tools/edit/edit.ts';
import { createGlobTool } from '../tools/glob/glob.ts';
import { createGrepTool } from '../tools/grep/grep.ts';
import { createKillShellTool } from '../tools/kill-shell/kill-shell.ts';
import { createMultiEditTool } from '../tools/multi-edit/multi-edit.ts';
import { createNotebookEditTool } from '../tools/notebook-edit/notebook-edit.ts';
import { createReadTool } from '../tools/read/read.ts';
import { createReadState } from '../tools/read-state.ts';
import { createLocator } from '../tools/search/choose-locator.ts';
import { createShells, type Shells } from '../tools/shells.ts';
import { createWriteTool } from '../tools/write/write.ts';
import type { Environment } from './environment.ts';
import type { LiveState } from './live-state.ts';

const BASH_TIMEOUT_MS = 120_000;
const BASH_MAX_TIMEOUT_MS = 600_000;

export type ToolBox = {
  readonly tools: readonly Tool[];
  readonly readState: ReturnType<typeof createReadState>;
  readonly shells: Shells;
};

export type ToolParts = {
  readonly environment: Environment;
  readonly live: LiveState;
  readonly workspaceRoots: () => readonly string[];
  readonly sessionFolder: string;
  readonly ledger: BashParts['ledger'];
  readonly variables: () => Readonly<Record<string, string>>;
  /** Folders and names that searches must not look into. */
  readonly excluded: () => readonly string[];
  readonly beforeChange?: (realPath: string) => Promise<void>;
};

/** Every built-in tool, each with the parts it wants. */
export function makeTools(parts: ToolParts): ToolBox {
  const { environment, live } = parts;
  const { home, knobs } = environment;
  const readState = createReadState();
  const shells = createShells(Date.now);
  const change = { readState, home, ...(parts.beforeChange && { beforeChange: parts.beforeChange }) };
  const search = { locator: createLocator(environment.variables), home, excluded: parts.excluded };
  const bash = createBashTool({
    shells,
    variables: parts.variables,
    ledger: parts.ledger,
    workspaceRoots: parts.workspaceRoots,
    setCwd: (cwd) => live.change({ cwd }),
    outputFolder: join(parts.sessionFolder, 'outputs'),
    timeoutMs: knobs.bashTimeoutMs ?? BASH_TIMEOUT_MS,
    maxTimeoutMs: knobs.bashMaxTimeoutMs ?? BASH_MAX_TIMEOUT_MS,
    now: Date.now,
  });
  return {
    readState,
    shells,
    tools: [
      bash,
      createBashOutputTool(shells),
      createEditTool(change),
      createGlobTool(search),
      createGrepTool(search),
      createKillShellTool(shells),
      createMultiEditTool(change),
      createNotebookEditTool(change),
      createReadTool(change),
      createWriteTool(change),
    ],
  };
}
