import type { Environment } from '../../contracts/environment.ts';
import type { ScreenOptions } from './screen-options.ts';

const FORCED_DEPTHS: Readonly<Record<string, ScreenOptions['depth']>> = {
  '0': 'none',
  '1': '16',
  '2': '256',
  '3': 'truecolor',
};

const UTF_8 = /utf-?8/i;

/** Derives colour depth, background and glyphs from the environment, before the terminal is queried. */
export function detectTerminalRendering({
  term,
}: Environment): Pick<ScreenOptions, 'depth' | 'background' | 'glyphs' | 'resizeMode'> {
  return {
    depth: term.isColorDisabled || term.name === 'dumb' ? 'none' : resolveDepth(term),
    background: detectBackground(term.colorFgBg),
    glyphs: UTF_8.test(term.locale) ? 'unicode' : 'ascii',
    resizeMode: term.canReflow ? 'wrapped' : 'cut',
  };
}

/** `FORCE_COLOR` overrides the detection: 0 for none, 1 to 3 for 16, 256 and true colour. */
function resolveDepth({ colorTerm, name, forceColor }: Environment['term']): ScreenOptions['depth'] {
  const forced = FORCED_DEPTHS[forceColor ?? ''];
  if (forced !== undefined) return forced;
  if (/truecolor|24bit/.test(colorTerm)) return 'truecolor';
  return name.includes('256') ? '256' : '16';
}

/** The last number of `COLORFGBG` is the background colour. */
function detectBackground(colors: string | undefined): ScreenOptions['background'] {
  const last = Number(colors?.split(';').at(-1));
  return last === 7 || (last >= 9 && last <= 15) ? 'light' : 'dark';
}
