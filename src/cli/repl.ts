import { createConversation } from '../app/compose.ts';
import type { Environment } from '../app/environment.ts';
import type { ScreenOptions } from '../ui/run/screen-options.ts';
import type { Invocation } from './invocation.ts';
import type { Io } from './io.ts';
import type { Shutdown } from './shutdown.ts';

/** The screen: from the arguments to the exit code. Ink is loaded here and nowhere else. */
export async function runRepl({ run, prompt }: Invocation, io: Io, shutdown: Shutdown): Promise<number> {
  const loading = import('../ui/run/open-screen.ts');
  const composed = await createConversation(run, io.environment);
  if (!composed.ok) {
    io.stderr.write(`${composed.problem}\n`);
    return 1;
  }
  const { conversation } = composed;
  shutdown.guard(conversation);
  const { openScreen } = await loading;
  const screen = openScreen(
    conversation,
    { out: process.stdout, in: process.stdin },
    screenOptions(io.environment, prompt),
  );
  const restore = () => screen.close();
  process.once('exit', restore);
  const code = await Promise.race([screen.left, shutdown.begun.then(() => 0)]);
  screen.close();
  process.off('exit', restore);
  return code;
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
