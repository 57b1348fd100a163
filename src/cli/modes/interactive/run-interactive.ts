import type { ProcessIo } from '../../../command/process-io.ts';
import type { Shutdown } from '../../../command/shutdown.ts';
import type { Environment } from '../../../contracts/environment.ts';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { FrontendSettings } from '../../../contracts/frontend/frontend-settings.ts';
import type { ScreenHandle, ScreenTerminal } from '../../../ui/open-screen.ts';
import { detectTerminalRendering } from '../../../ui/terminal/detect-rendering.ts';
import { createNonBlockingOutput, type NonBlockingOutput } from '../../../ui/terminal/non-blocking-output.ts';
import type { TerminalOutput } from '../../../ui/terminal/screen-frame-writer.ts';
import { readTypedLines, type StartupPrompt, showStartupPrompt } from '../../../ui/terminal/startup-prompt.ts';
import type { CliInvocation } from '../../args/invocation.ts';
import { createGarbageCollectionListener } from '../collect-garbage.ts';
import { recordTerminal } from './record-terminal.ts';
import { type InitialScreenContent, resolveScreenOptions } from './screen-options.ts';

/** `--resume` without a session starts in the session list. */
const SESSION_PICKER: InitialScreenContent = { prompt: undefined, typed: '', opens: 'sessions' };

/** Rows of the banner and the empty row below it. */
const ROWS_ABOVE_COMPOSER = 3;

/** Runs interactive mode and returns the exit code. Nothing but a prompt is loaded before it takes keys. */
export async function runInteractive(invocation: CliInvocation, io: ProcessIo, shutdown: Shutdown): Promise<number> {
  // Set first, so that keys typed during startup are neither echoed nor translated but kept for the composer.
  const typed = readTypedLines();
  process.stdin.setRawMode(true);
  process.stdin.setEncoding('utf8');
  if (typed !== '') process.stdin.unshift(typed);
  const isLinear = findLinearReason(io.environment, invocation) !== undefined;
  const out = createNonBlockingOutput(process.stdout);
  const terminal = openTerminal(io, out);
  const openingPrompt = isLinear ? undefined : openPrompt(invocation, io, terminal.out);
  try {
    return await converse(invocation, io, shutdown, { out, terminal, isLinear, openingPrompt });
  } finally {
    // Closed later, it would erase the message about a failure.
    openingPrompt?.close();
    process.stdin.setRawMode(false);
  }
}

/** The terminal of a session, and the prompt that takes keys before there is a screen. */
type SessionTerminal = {
  readonly out: NonBlockingOutput;
  readonly terminal: ScreenTerminal;
  readonly isLinear: boolean;
  readonly openingPrompt: StartupPrompt | undefined;
};

/** Asks the first questions, then shows one session after the other. */
async function converse(
  invocation: CliInvocation,
  io: ProcessIo,
  shutdown: Shutdown,
  { out, terminal, isLinear, openingPrompt }: SessionTerminal,
): Promise<number> {
  const { run, prompt } = invocation;
  await readTypedKeys();
  const { askFirstRunQuestions } = await import('./first-run.ts');
  await readTypedKeys();
  const starting = askFirstRunQuestions(run, prompt, io, {
    out,
    rendering: isLinear ? 'lines' : detectTerminalRendering(io.environment),
    beforeQuestions: () => openingPrompt?.handOver(),
  });
  // Preloaded while files are read: this module takes longest to load and is needed soon.
  if (!isLinear) void import('../../../ui/open-screen.ts');
  const start = await starting;
  if (start === 'left') return 0;
  await readTypedKeys();
  const { createConversation } = await import('../../../app/compose.ts');
  await readTypedKeys();
  const isPickingSession = start.run.session.kind === 'resume' && start.run.session.wanted === '';
  let options: CliRunOptions = isPickingSession ? { ...start.run, session: { kind: 'new' } } : start.run;
  let initialScreen: InitialScreenContent = isPickingSession ? SESSION_PICKER : start;
  for (;;) {
    const composed = await createConversation(options, io.environment);
    if (!composed.ok) {
      openingPrompt?.close();
      process.stdin.setRawMode(false);
      io.stderr.write(`${composed.problem}\n`);
      return 1;
    }
    const { conversation } = composed;
    shutdown.attach(conversation);
    conversation.agent.subscribe(createGarbageCollectionListener());
    const screen = await openFrontend(conversation, terminal, io.environment, initialScreen, invocation, openingPrompt);
    const restore = () => screen.close();
    process.once('exit', restore);
    const end = await Promise.race([screen.ended, shutdown.started]);
    screen.close();
    await out.flushed();
    process.off('exit', restore);
    if (typeof end === 'string') return 0;
    if (end.type === 'leave') {
      printResumeHint(conversation, end.unsent, io);
      return 0;
    }
    process.stdout.write('\n');
    await shutdown.detach(conversation);
    options = { ...start.run, session: { kind: 'resume', wanted: end.sessionId, fork: end.fork } };
    // The prompt from the command line is sent after a session is picked.
    initialScreen = initialScreen.opens === 'sessions' ? start : { prompt: undefined, typed: '' };
  }
}

/** Lets the opening prompt show what was typed: loading a part of the program blocks for up to 20 ms. */
function readTypedKeys(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Shows the prompt that takes keys while the program is loading. There is none where symbols are ASCII, where a prompt
 * is about to be sent, and before the list of sessions.
 */
function openPrompt(
  { run, prompt }: CliInvocation,
  { environment }: ProcessIo,
  out: TerminalOutput,
): StartupPrompt | undefined {
  const isNew = run.session.kind === 'new';
  const isUnneeded = prompt !== undefined || (run.session.kind === 'resume' && run.session.wanted === '');
  if (isUnneeded || run.model === 'demo' || detectTerminalRendering(environment).glyphs === 'ascii') return undefined;
  const shown = showStartupPrompt(process.stdin, out, isNew ? ROWS_ABOVE_COMPOSER : 0);
  process.once('exit', shown.close);
  return shown;
}

/** Returns the terminal of the process, recorded if `OURO_DEBUG_SCREEN` names a file. */
function openTerminal({ environment: { screenRecording }, stderr }: ProcessIo, out: TerminalOutput): ScreenTerminal {
  const terminal = { out, in: process.stdin };
  if (screenRecording === undefined) return terminal;
  const recorded = recordTerminal(terminal, screenRecording, Date.now);
  if ('terminal' in recorded) return recorded.terminal;
  stderr.write(`${recorded.problem}\n`);
  return terminal;
}

/** Prints how to resume the session, and which unsent drafts were saved. */
function printResumeHint({ agent, info }: Conversation, savedDrafts: string | undefined, { stderr }: ProcessIo): void {
  if (agent.state().messages.length > 0) stderr.write(`Resume: ouro --resume ${agent.sessionId}\n`);
  if (savedDrafts !== undefined && info().transcriptPath !== undefined)
    stderr.write(`Not sent, saved for the next start in this folder: ${savedDrafts}.\n`);
}

/** Returns the reason for linear rendering, shown at the start; `undefined` when the screen can be redrawn. */
function findLinearReason(
  { term }: Environment,
  { rendering }: CliInvocation,
  settings: FrontendSettings = {},
): string | undefined {
  if (rendering === 'linear') return 'Screen reader mode is on: --a11y is given.';
  if (term.isAccessible) return 'Screen reader mode is on: ACCESSIBLE or OURO_A11Y is set.';
  if (settings.accessible === true) return 'Screen reader mode is on: the setting "accessible" is true.';
  return term.name === 'dumb' ? 'Linear output: this terminal cannot redraw (TERM=dumb).' : undefined;
}

/** Opens the screen, or the linear output where redrawing is impossible or unwanted. */
async function openFrontend(
  conversation: Conversation,
  terminal: ScreenTerminal,
  environment: Environment,
  initialScreen: InitialScreenContent,
  invocation: CliInvocation,
  openingPrompt: StartupPrompt | undefined,
): Promise<ScreenHandle> {
  const settings = await conversation.readFrontendSettings?.();
  const options = resolveScreenOptions(environment, initialScreen, settings);
  const linearReason = findLinearReason(environment, invocation, settings);
  if (linearReason === undefined) {
    const { openScreen } = await import('../../../ui/open-screen.ts');
    openingPrompt?.handOver();
    return openScreen(conversation, terminal, options);
  }
  openingPrompt?.close();
  const lineEditing = environment.term.name === 'dumb' ? 'none' : 'own';
  if (lineEditing === 'none') process.stdin.setRawMode(false);
  const { openLinearScreen } = await import('../../../ui/linear/open-linear-screen.ts');
  return openLinearScreen(conversation, terminal, { ...options, reason: linearReason, lineEditing });
}
