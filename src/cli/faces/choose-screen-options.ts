import type { Environment } from '../../contracts/environment.ts';
import type { FaceSettings } from '../../contracts/face/screen-settings.ts';
import { keymapOf } from '../../ui/keys/keymap.ts';
import { ownKeys } from '../../ui/keys/own-keys.ts';
import { notifyBy } from '../../ui/terminal/announcer.ts';
import { showsProgress } from '../../ui/terminal/progress.ts';
import type { ScreenOptions } from '../../ui/terminal/screen-options.ts';
import type { Beginning } from './ask-first.ts';

/** Terminals whose words can be links, by the name they give themselves. */
const LINKING: readonly string[] = ['iTerm.app', 'WezTerm', 'ghostty', 'vscode', 'Hyper', 'Tabby'];
const FORCED: Readonly<Record<string, ScreenOptions['depth']>> = {
  '0': 'none',
  '1': '16',
  '2': '256',
  '3': 'truecolor',
};

const UTF_8 = /utf-?8/i;
/** Where fonts may draw signs two columns wide that elsewhere take one. */
const EAST_ASIAN = /^(?:zh|ja|ko)/;

/** What a screen begins with. */
export type ScreenStart = Pick<Beginning, 'prompt' | 'typed'> & { readonly opens?: 'sessions' };

/** What the screen knows of its surroundings. */
export function chooseScreenOptions(
  environment: Environment,
  { prompt, typed, opens }: ScreenStart,
  settings: FaceSettings = {},
): ScreenOptions {
  const { term, editor, isCi } = environment;
  const isDumb = term.name === 'dumb';
  const { keys, problems } = ownKeys(settings.keybindings ?? {});
  return {
    ...screenLook(environment),
    terminal: term.isRemote ? 'remote' : 'here',
    theme: settings.theme ?? 'auto',
    ...(settings.ascii === true || settings.ambiguous === 'wide' ? { glyphs: 'ascii' as const } : {}),
    signWidth: (settings.ambiguous ?? 'auto') === 'auto' && EAST_ASIAN.test(term.locale) ? 'asked' : 'known',
    motion: isCi || settings.reducedMotion === true ? 'reduced' : 'full',
    prose: settings.wrap ?? 'words',
    links: linksOf(term),
    banner: settings.banner === false ? 'off' : 'shown',
    times: settings.timestamps === true ? 'shown' : 'off',
    title: isDumb || settings.title === false ? 'off' : 'set',
    notify:
      settings.notify === 'off' || settings.notify === 'bell' ? settings.notify : term.tmux ? 'tmux' : notifyBy(term),
    progress: (settings.progress ?? showsProgress(term)) ? 'shown' : 'off',
    ...(term.tmux ? { tmux: async () => (await import('../../ui/terminal/tmux.ts')).askTmux() } : {}),
    dialogDelayMs: settings.dialogDelayMs ?? 400,
    vim: settings.editorMode === 'vim' ? 'on' : 'off',
    keymap: keymapOf(keys),
    keyProblems: problems,
    prompt,
    typed,
    opens: opens ?? 'nothing',
    editor,
    now: Date.now,
  };
}

/** The colours a terminal is known to show, before anybody has asked it. */
export function screenLook({ term }: Environment): Pick<ScreenOptions, 'depth' | 'background' | 'glyphs' | 'tooWide'> {
  return {
    depth: term.noColor || term.name === 'dumb' ? 'none' : depthOf(term),
    background: backgroundOf(term.colorFgBg),
    glyphs: UTF_8.test(term.locale) ? 'unicode' : 'ascii',
    tooWide: term.reflows ? 'wrapped' : 'cut',
  };
}

/** Addresses behind words: where they are known to work, and no multiplexer stands between. */
function linksOf({ forceHyperlink, program, name, tmux }: Environment['term']): ScreenOptions['links'] {
  if (forceHyperlink !== undefined) return forceHyperlink === '0' ? 'printed' : 'clickable';
  const isKnown = LINKING.includes(program ?? '') || name === 'xterm-kitty' || name === 'xterm-ghostty';
  return isKnown && !tmux ? 'clickable' : 'printed';
}

/** `FORCE_COLOR` says how many colours there are: 0, or 1 to 3 for 16, 256 and all. */
function depthOf({ colorTerm, name, forceColor }: Environment['term']): ScreenOptions['depth'] {
  const forced = FORCED[forceColor ?? ''];
  if (forced !== undefined) return forced;
  if (/truecolor|24bit/.test(colorTerm)) return 'truecolor';
  return name.includes('256') ? '256' : '16';
}

/** `COLORFGBG` ends with the number of the background colour. */
function backgroundOf(colors: string | undefined): ScreenOptions['background'] {
  const last = Number(colors?.split(';').at(-1));
  return last === 7 || (last >= 9 && last <= 15) ? 'light' : 'dark';
}
