import type { ToolOutcome } from '../../contracts/tool.ts';
import type { ReadOnlySandboxRun } from '../../sandbox/read-only/read-only-sandbox.ts';
import type { ReadOnlySandboxCommand } from '../../sandbox/read-only/read-only-sandbox-plan.ts';
import type { ProcessLedger } from './run-shell.ts';
import type { ForegroundCommandDeps } from './wait-for-foreground.ts';

/** Dependencies of the Bash tool. */
export type BashDeps = ForegroundCommandDeps & {
  readonly variables: () => Readonly<Record<string, string>>;
  readonly ledger: ProcessLedger;
  /** Folder for outputs that are too large for the result. */
  readonly outputFolder: string;
  /** Removes the keys of this process from stored outputs. */
  readonly removeKeys?: (text: string) => string;
  /** Returns the current timeouts. */
  readonly limits: () => ShellLimits;
  /** Variables for one command, such as a hardened git configuration for commands that run without approval. */
  readonly extraEnv?: (callId: string) => Readonly<Record<string, string | undefined>>;
  /** Returns a sandbox wrapper, `undefined` without one; throws if a required sandbox is unavailable. */
  readonly sandbox?: (
    command: SandboxedCommand,
  ) => Promise<((argv: readonly string[]) => readonly string[]) | undefined>;
  /** Prepares the run of a command that may only read; throws a `ToolFailure` if it cannot be limited to that. */
  readonly prepareReadOnly?: (command: ReadOnlySandboxCommand) => ReadOnlySandboxRun;
  /** Prepares the run of a command in a throw-away layer; rejects if there can be none. */
  readonly prepareTrial?: (command: ReadOnlySandboxCommand) => Promise<CommandTrial>;
  /** Returns a wrapper that enforces deny rules on paths for a command outside any other sandbox. */
  readonly enforceDenials?: (cwd: string) => ((argv: readonly string[]) => readonly string[]) | undefined;
  /** Called with the real paths of files whose lines were shown to the model. */
  readonly onShown?: (files: readonly string[], callId: string) => Promise<void>;
  /** Tells whether commands run in a sandbox now; without it, the arguments about one are described. */
  readonly isSandboxed?: () => boolean;
  /** Called when a sandboxed command has exited, and again when all its processes have. */
  readonly onSandboxExit?: (end: 'exited' | 'over', callId: string) => void;
};

/** A command to run in a sandbox. */
type SandboxedCommand = { readonly id: string; readonly command: string; readonly cwd: string };

/** A run in a throw-away layer over the workspace. */
export type CommandTrial = ReadOnlySandboxRun & {
  /** Returns the outcome with what the run changed, or where it says nothing about the command, with the reason. */
  judge(run: TrialRun): Promise<ToolOutcome>;
  stop(): void;
};

/** How a trial went. */
export type TrialRun = {
  readonly outcome: ToolOutcome;
  /** The last lines that it printed. */
  readonly printed: readonly string[];
  /** It was stopped, or did not end by itself. */
  readonly isCut: boolean;
  /** Gives the outcome its effects in the session, once it stands. */
  readonly finish: () => Promise<ToolOutcome>;
  readonly isAborted: () => boolean;
};

/** Default and maximum run time of a command. */
export type ShellLimits = { readonly timeoutMs: number; readonly maxTimeoutMs: number };
