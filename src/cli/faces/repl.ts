import { createConversation } from '../../app/compose.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { FaceSettings } from '../../contracts/face/screen-settings.ts';
import type { OpenScreen, ScreenTerminal } from '../../ui/open-screen.ts';
import type { Invocation } from '../args/invocation.ts';
import { signalCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';
import { askFirst } from './ask-first.ts';
import { chooseScreenOptions, type ScreenStart, screenLook } from './choose-screen-options.ts';

/** Without a name, `--resume` asks for one in the list of sessions. */
const CHOOSING: ScreenStart = { prompt: undefined, typed: '', opens: 'sessions' };

/** The screen: from the arguments to the exit code. Ink is loaded here and nowhere else. */
export async function runRepl(invocation: Invocation, io: Io, shutdown: Shutdown): Promise<number> {
  const { run, prompt } = invocation;
  // At once: what is typed while we load is neither echoed nor changed, and waits for us.
  process.stdin.setRawMode(true);
  const isLinear = linearReason(io.environment, invocation) !== undefined;
  // Nobody waits for it here: it is the longest to load, and wanted in a moment.
  if (!isLinear) void import('../../ui/open-screen.ts');
  const first = await askFirst(run, prompt, io, isLinear ? 'lines' : screenLook(io.environment));
  if (first === 'left') {
    process.stdin.setRawMode(false);
    return 0;
  }
  const isChoosing = first.run.session.kind === 'resume' && first.run.session.wanted === '';
  let given: RunOptions = isChoosing ? { ...first.run, session: { kind: 'new' } } : first.run;
  let opening: ScreenStart = isChoosing ? CHOOSING : first;
  for (;;) {
    const composed = await createConversation(given, io.environment);
    if (!composed.ok) {
      process.stdin.setRawMode(false);
      io.stderr.write(`${composed.problem}\n`);
      return 1;
    }
    const { conversation } = composed;
    shutdown.guard(conversation);
    const terminal = { out: process.stdout, in: process.stdin };
    const screen = await openTerminal(conversation, terminal, io.environment, opening, invocation);
    const restore = () => screen.close();
    process.once('exit', restore);
    const end = await Promise.race([screen.left, shutdown.begun]);
    screen.close();
    process.off('exit', restore);
    if (typeof end === 'string') return end === 'shutdown' ? 0 : signalCode(end);
    if (end.type === 'leave') {
      sayGoodbye(conversation, end.kept, io);
      return 0;
    }
    process.stdout.write('\n');
    await shutdown.release(conversation);
    given = { ...first.run, session: { kind: 'resume', wanted: end.sessionId, fork: end.fork } };
    // What was to be said waits until it is known to whom.
    opening = opening.opens === 'sessions' ? first : { prompt: undefined, typed: '' };
  }
}

/** How to go on with what was said here, and what of it was not sent. */
function sayGoodbye({ agent, info }: Conversation, kept: string | undefined, { stderr }: Io): void {
  if (agent.state().messages.length > 0) stderr.write(`Resume: ouro --resume ${agent.sessionId}\n`);
  if (kept !== undefined && info().transcriptPath !== undefined)
    stderr.write(`Not sent and kept for the next start here: ${kept}.\n`);
}

/** Why lines are only ever added, shown at the start; `undefined` where the screen may be drawn. */
function linearReason(
  { term }: Environment,
  { reading }: Pick<Invocation, 'reading'>,
  settings: FaceSettings = {},
): string | undefined {
  if (reading === 'lines') return 'Screen reader mode is on: the flag --a11y says so.';
  if (term.accessible) return 'Screen reader mode is on: ACCESSIBLE or OURO_A11Y is set.';
  if (settings.accessible === true) return 'Screen reader mode is on: the setting "accessible" says so.';
  return term.name === 'dumb' ? 'This terminal cannot redraw (TERM=dumb), so lines are only added.' : undefined;
}

/** Opens the screen, or where it cannot be drawn, lines that are only added. */
async function openTerminal(
  conversation: Conversation,
  terminal: ScreenTerminal,
  environment: Environment,
  opening: ScreenStart,
  invocation: Pick<Invocation, 'reading'>,
): Promise<OpenScreen> {
  const settings = await conversation.faceSettings?.();
  const options = chooseScreenOptions(environment, opening, settings);
  const why = linearReason(environment, invocation, settings);
  if (why === undefined) return (await import('../../ui/open-screen.ts')).openScreen(conversation, terminal, options);
  const lineEditing = environment.term.name === 'dumb' ? 'none' : 'own';
  if (lineEditing === 'none') process.stdin.setRawMode(false);
  const { openLinear } = await import('../../ui/linear/open-linear.ts');
  return openLinear(conversation, terminal, { ...options, why, lineEditing });
}
