import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type CallContext, ToolFailure } from '../../contracts/tool.ts';
import { buildTool } from '../build-tool.ts';
import { commandFacts } from '../stated-facts.ts';
import { bashPrompt, type ShellLimits } from './prompt.ts';
import { type RunningShell, type ShellLedger, startShell } from './run-shell.ts';
import { shellEnvironment } from './shell-environment.ts';
import { inBackground } from './shell-outcome.ts';
import { firstLine, linePattern } from './shells.ts';
import { type FrontParts, waitForShell } from './wait-for-shell.ts';

/** What the shell tool is built from. */
export type BashParts = FrontParts & {
  readonly variables: () => Readonly<Record<string, string>>;
  readonly ledger: ShellLedger;
  /** Where too large outputs are kept whole. */
  readonly outputFolder: string;
  /** The limits that hold now. */
  readonly limits: () => ShellLimits;
  /** Variables for this command alone (git made harmless when nobody was asked). */
  readonly extraEnv?: (callId: string) => Readonly<Record<string, string | undefined>>;
  /** `undefined` without a sandbox; throws a ToolFailure when one is wanted and cannot be had. */
  readonly sandbox?: (command: BoxedCommand) => Promise<((argv: readonly string[]) => readonly string[]) | undefined>;
  /** A command that ran in it has ended, with all it started. */
  readonly leftSandbox?: (end: 'exited' | 'over', callId: string) => void;
  /** Commands that certainly change nothing may run side by side. */
  readonly onlyLooks?: (command: string) => boolean;
};

/** A command that is to run in a sandbox. */
type BoxedCommand = { readonly id: string; readonly command: string; readonly cwd: string };

const KEEP_BYTES = 30_000;
const FILE_BYTES = 100_000_000;

const input = z.object({
  command: z.string().min(1).describe('The command line'),
  timeout: z.number().positive().optional().describe('Milliseconds'),
  description: z.string().optional().describe('What it is for, in a few words'),
  run_in_background: z.boolean().optional(),
  outside_sandbox: z.string().optional().describe('What it needs that a sandbox kept from it: asks to run it outside'),
  sandbox_write: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Places outside of the workspace it has to write, where a sandbox kept it from that: asks for just these',
    ),
  wake_on: z.string().optional().describe('In the background: a line that matches this expression is told you'),
});

/** What it says of itself to those who decide about its calls. */
export const bashStatement: ToolStatement = { name: 'Bash', facts: commandFacts, mainInput: 'command', served: 'runs' };

/** The shell: always comes back, and takes everything it started with it. */
export function createBashTool(parts: BashParts) {
  return buildTool({
    ...bashStatement,
    prompt: () => bashPrompt(parts.limits()),
    input,
    maxResultChars: KEEP_BYTES * 2,
    prepareArguments: (given) =>
      typeof given.timeout === 'string' ? { ...given, timeout: Number(given.timeout) } : given,
    isConcurrencySafe: ({ command, run_in_background: background }) =>
      background !== true && (parts.onlyLooks?.(command) ?? false),
    title: ({ command }) => firstLine(command),
    async call({ command, timeout, ...given }, context) {
      if (command.includes('\0')) throw new ToolFailure('A command cannot hold a NUL byte. Write it as \\0 in printf.');
      const pattern = await linePattern(given.wake_on);
      const isBackground = given.run_in_background === true;
      if (pattern !== undefined && !isBackground) throw new ToolFailure('wake_on needs run_in_background.');
      const shell = await start(command, context, given.outside_sandbox ? undefined : parts.sandbox, parts);
      if (isBackground)
        return inBackground('Started', parts.shells.background(context.callId, command, shell, pattern));
      const { timeoutMs, maxTimeoutMs } = parts.limits();
      const limitMs = Math.min(timeout ?? timeoutMs, maxTimeoutMs);
      return waitForShell(command, shell, limitMs, context, parts);
    },
  });
}

async function start(
  command: string,
  { callId, cwd }: CallContext,
  sandbox: BashParts['sandbox'],
  parts: BashParts,
): Promise<RunningShell> {
  const wrap = await sandbox?.({ id: callId, command, cwd });
  // Ids come from the provider, and another ouro may have a call of the same: the mark is ours alone.
  const marker = `${callId}-${randomUUID()}`;
  const shell = startShell({
    command,
    cwd,
    env: shellEnvironment(parts.variables(), parts.extraEnv?.(callId) ?? {}, marker),
    marker,
    ledger: parts.ledger,
    limits: {
      keepBytes: KEEP_BYTES,
      headBytes: 10_000,
      tailBytes: 16_000,
      fileBytes: FILE_BYTES,
      // Ids come from the provider: none of them chooses a place outside the folder.
      filePath: join(parts.outputFolder, `${callId.replaceAll(/[^\w-]/g, '_')}.txt`),
    },
    ...(wrap === undefined ? {} : { wrap }),
  });
  for (const end of wrap ? (['exited', 'over'] as const) : [])
    void shell[end].then(() => parts.leftSandbox?.(end, callId));
  return shell;
}
