import type { Environment } from '../app/environment.ts';
import type { ScreenOptions } from '../ui/run/screen-options.ts';
import type { Beginning } from './ask-first.ts';

/** What the screen is told about its surroundings. */
export function screenOptions(
  environment: Environment,
  { prompt, typed }: Pick<Beginning, 'prompt' | 'typed'>,
): ScreenOptions {
  const { term, editor, isCi } = environment;
  const isDumb = term.name === 'dumb';
  return {
    ...screenLook(environment),
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
    typed,
    editor,
    now: Date.now,
  };
}

/** The colours a terminal is known to show, before anybody has asked it. */
export function screenLook({ term }: Environment): Pick<ScreenOptions, 'depth' | 'background'> {
  return {
    depth: term.noColor || term.name === 'dumb' ? 'none' : depthOf(term),
    background: backgroundOf(term.colorFgBg),
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
