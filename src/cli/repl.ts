import { createConversation } from '../app/compose.ts';
import type { Environment } from '../app/environment.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import type { ScreenOptions } from '../ui/run/screen-options.ts';
import type { Invocation } from './invocation.ts';
import type { Io } from './io.ts';
import type { Shutdown } from './shutdown.ts';

/** The screen: from the arguments to the exit code. Ink is loaded here and nowhere else. */
export async function runRepl({ run, prompt }: Invocation, io: Io, shutdown: Shutdown): Promise<number> {
  // At once: what is typed while we load is neither echoed nor changed, and waits for us.
  process.stdin.setRawMode(true);
  const loading = import('../ui/run/open-screen.ts');
  let given: RunOptions = run;
  let words = prompt;
  for (;;) {
    const composed = await createConversation(given, io.environment);
    if (!composed.ok) {
      process.stdin.setRawMode(false);
      io.stderr.write(`${composed.problem}\n`);
      return 1;
    }
    const { conversation } = composed;
    shutdown.guard(conversation);
    const { openScreen } = await loading;
    const terminal = { out: process.stdout, in: process.stdin };
    const screen = openScreen(conversation, terminal, screenOptions(io.environment, words));
    const restore = () => screen.close();
    process.once('exit', restore);
    const end = await Promise.race([screen.left, shutdown.begun]);
    screen.close();
    process.off('exit', restore);
    if (typeof end === 'string' || end.type === 'leave') return 0;
    await shutdown.release(conversation);
    given = { ...run, session: { kind: 'resume', wanted: end.sessionId, fork: 'same' } };
    words = undefined;
  }
}

function screenOptions({ term, editor, isCi }: Environment, prompt: string | undefined): ScreenOptions {
  const isDumb = term.name === 'dumb';
  return {
    depth: term.noColor || isDumb ? 'none' : depthOf(term),
    background: backgroundOf(term.colorFgBg),
    theme: 'auto',
    glyphs: /utf-?8/i.test(term.locale) ? 'unicode' : 'ascii',
    motion: isCi ? 'reduced' : 'full',
    prose: 'words',
    links: 'printed',
    banner: 'shown',
    title: isDumb ? 'off' : 'set',
    notify: 'bell',
    dialogDelayMs: 400,
    prompt,
    editor,
    now: Date.now,
  };
}

function depthOf({ colorTerm, name }: Environment['term']): ScreenOptions['depth'] {
  if (/truecolor|24bit/.test(colorTerm)) return 'truecolor';
  return name.includes('256') ? '256' : '16';
}

/** `COLORFGBG` ends with the number of the background colour. */
function backgroundOf(colors: string | undefined): ScreenOptions['background'] {
  const last = Number(colors?.split(';').at(-1));
  return last === 7 || (last >= 9 && last <= 15) ? 'light' : 'dark';
}
