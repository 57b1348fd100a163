import { z } from 'zod';
import type { CallEnforcement } from '../../contracts/sandbox.ts';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { analyzeShell } from '../../permissions/shell/analyze.ts';
import type { ReadOnlySandboxRun } from '../../sandbox/read-only/read-only-sandbox.ts';
import type { ReadOnlySandboxCommand } from '../../sandbox/read-only/read-only-sandbox-plan.ts';
import { buildTool } from '../definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from '../input/call-forms.ts';
import { getCommandToolFacts } from '../tool-facts.ts';
import { BASH_CALL_FORMS } from './bash-call-forms.ts';
import type { BashDeps, CommandTrial, ShellLimits } from './bash-deps.ts';
import { findInteractiveProgram } from './interactive-programs.ts';
import { compileLinePattern, truncateToFirstLine } from './shell-registry.ts';
import { reportShownFiles } from './shown-files.ts';
import { KEEP_BYTES, startCommand, startReadOnlyCommand } from './start-command.ts';
import { buildBackgroundOutcome, updateCwd, waitForForegroundCommand } from './wait-for-foreground.ts';

const input = z.strictObject({
  command: z.string().min(1),
  timeout: z.number().positive().optional(),
  description: z.string().optional().describe('What it is for, in five to ten words'),
  run_in_background: z.boolean().optional(),
  outside_sandbox: z
    .string()
    .optional()
    .describe('What it needs that the sandbox kept from it: asks to run it outside'),
  sandbox_write: z
    .array(z.string().min(1))
    .optional()
    .describe('Paths it has to write, where the sandbox kept it from that: asks for just these'),
  wake_on: z.string().optional().describe('In the background: report lines that match this expression'),
});

/** Arguments that only make sense with a sandbox. */
const SANDBOX_ARGUMENTS = ['outside_sandbox', 'sandbox_write'];

/** The traits of the Bash tool. */
export const bashTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Bash',
  facts: getCommandToolFacts,
  mainInput: 'command',
  served: 'runs',
  forms: BASH_CALL_FORMS,
});

/** Creates the Bash tool. A call always returns, and a stopped command takes its child processes with it. */
export function createBashTool(deps: BashDeps) {
  return buildTool({
    ...bashTraits,
    prompt: () => renderBashPrompt(deps.limits()),
    input,
    maxResultChars: KEEP_BYTES * 2,
    listHiddenArguments: () => (deps.isSandboxed?.() === false ? SANDBOX_ARGUMENTS : []),
    analyzeShell: ({ command }) => analyzeShell(command),
    findRefusal: (_, shell) => shell && findInteractiveProgram(shell),
    isConcurrencySafe: ({ run_in_background: background }, shell) => background !== true && shell?.isReadOnly === true,
    title: ({ command }) => truncateToFirstLine(command),
    async call({ command, timeout, ...rest }, context) {
      if (command.includes('\0')) throw new ToolFailure('A command cannot hold a NUL byte. Write it as \\0 in printf.');
      const pattern = await compileLinePattern(rest.wake_on);
      const runsInBackground = rest.run_in_background === true;
      if (pattern !== undefined && !runsInBackground) throw new ToolFailure('wake_on needs run_in_background.');
      if (context.trial?.is === 'pending') return context.trial.apply();
      if (context.enforce?.kind === 'trial') return tryCommand(command, context, context.enforce, deps);
      const readOnly = prepareReadOnlyRun(command, context, deps);
      const sandbox = rest.outside_sandbox ? undefined : deps.sandbox;
      const shell =
        readOnly === undefined
          ? await startCommand(command, context, sandbox, deps)
          : startReadOnlyCommand(command, context, readOnly, deps);
      if (runsInBackground) {
        const watch = pattern === undefined ? undefined : { pattern };
        return buildBackgroundOutcome('Started', deps.shells.addBackground(context.callId, command, shell, watch));
      }
      const { timeoutMs, maxTimeoutMs } = deps.limits();
      const limitMs = Math.min(timeout ?? timeoutMs, maxTimeoutMs);
      const outcome = await waitForForegroundCommand(command, shell, limitMs, context, {
        ...deps,
        ...(readOnly && {
          findBlocked: readOnly.findBlocked,
          listSandboxDenials: (_, printed) => readOnly.describeLimits(printed),
        }),
      });
      await reportShownFiles(command, outcome, context, deps);
      return outcome;
    },
  });
}

/** Prepares the run of a command that the gate allowed for only reading; `undefined` for any other command. */
function prepareReadOnlyRun(
  command: string,
  { cwd, enforce }: CallContext,
  { prepareReadOnly }: BashDeps,
): ReadOnlySandboxRun | undefined {
  if (enforce === undefined) return undefined;
  if (prepareReadOnly === undefined)
    throw new ToolFailure('Nothing was run: the command cannot be limited to reading.');
  return prepareReadOnly({ command, cwd, readable: enforce.readable, hidden: enforce.hidden });
}

/** The longest time of a trial. */
const TRIAL_MS = 5_000;

/** Runs a command in a throw-away layer over the workspace. Its outcome stands if it changes nothing. */
async function tryCommand(
  command: string,
  context: CallContext,
  { readable, hidden }: CallEnforcement,
  deps: BashDeps,
): Promise<ToolOutcome> {
  const trial = await prepareTrial({ command, cwd: context.cwd, readable, hidden }, deps);
  if (typeof trial === 'string') return { content: '', trial: { is: 'void', why: `could not run (${trial})` } };
  try {
    const shell = startReadOnlyCommand(command, context, trial, deps);
    const outcome = await waitForForegroundCommand(command, shell, TRIAL_MS, context, {
      ...deps,
      // The folder that it ends in may not exist yet.
      workspaceRoots: () => [],
      findBlocked: trial.findBlocked,
      listSandboxDenials: (_, printed) => trial.describeLimits(printed),
    });
    const { display } = outcome;
    const isCut = display?.kind !== 'output' || display.exitCode === null;
    if (isCut) await shell.stop();
    const printed = shell.output.tail(TRIAL_LINES);
    const finish = async (): Promise<ToolOutcome> => {
      const { cwd } = await shell.exited;
      const notes = await updateCwd(cwd, context.callId, deps);
      await reportShownFiles(command, outcome, context, deps);
      return notes.length === 0 || typeof outcome.content !== 'string'
        ? outcome
        : { ...outcome, content: [outcome.content, ...notes].join('\n') };
    };
    return await trial.judge({ outcome, printed, isCut, finish, isAborted: () => context.signal.aborted });
  } catch (thrown) {
    trial.stop();
    throw thrown;
  }
}

const TRIAL_LINES = 50;

/** Prepares a trial; returns the reason if there can be none. */
async function prepareTrial(command: ReadOnlySandboxCommand, deps: BashDeps): Promise<CommandTrial | string> {
  try {
    return (await deps.prepareTrial?.(command)) ?? 'there are no layers here';
  } catch (thrown) {
    return getErrorMessage(thrown);
  }
}

/** Returns the description of the Bash tool with the current limits. */
function renderBashPrompt({ timeoutMs, maxTimeoutMs }: ShellLimits): string {
  return `Runs a command in bash and gives back output and exit code. Every call is a fresh shell; only the directory lasts, inside the workspace. stdin is closed: use flags that keep programs from asking (--yes, -m).
Prefer Read, Edit, Glob and Grep to cat, sed, find and grep. Join dependent steps with &&.
timeout is in milliseconds (default ${timeoutMs}, at most ${maxTimeoutMs}). Servers, watchers and long work: run_in_background, not &. You hear when it ends: do not poll.`;
}
