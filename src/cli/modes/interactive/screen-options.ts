import type { Environment } from '../../../contracts/environment.ts';
import type { FrontendSettings } from '../../../contracts/frontend/frontend-settings.ts';
import { createKeymap, resolveUserKeyBindings } from '../../../ui/input/keymap.ts';
import { chooseNotifyMethod, supportsTerminalProgress } from '../../../ui/terminal/osc-sequences.ts';
import type { ScreenOptions } from '../../../ui/terminal/screen-options.ts';
import type { InteractiveStart } from './first-run.ts';

/** Terminals with hyperlink support, by `TERM_PROGRAM`. */
const HYPERLINK_TERMINALS: readonly string[] = ['iTerm.app', 'WezTerm', 'ghostty', 'vscode', 'Hyper', 'Tabby'];
const FORCED_DEPTHS: Readonly<Record<string, ScreenOptions['depth']>> = {
  '0': 'none',
  '1': '16',
  '2': '256',
  '3': 'truecolor',
};

const UTF_8 = /utf-?8/i;
/** Locales whose fonts may draw ambiguous characters two columns wide. */
const EAST_ASIAN = /^(?:zh|ja|ko)/;

/** The content of the screen at its start: a prompt to send, typed text, or an open list. */
export type InitialScreenContent = Pick<InteractiveStart, 'prompt' | 'typed'> & { readonly opens?: 'sessions' };

/** Resolves the screen options from the environment, the settings and the initial content. */
export function resolveScreenOptions(
  environment: Environment,
  { prompt, typed: typedAhead, opens }: InitialScreenContent,
  settings: FrontendSettings = {},
): ScreenOptions {
  const { term, editor, isCi } = environment;
  const isDumb = term.name === 'dumb';
  const { keys, problems } = resolveUserKeyBindings(settings.keybindings ?? {});
  return {
    ...detectTerminalRendering(environment),
    terminal: term.isRemote ? 'remote' : 'here',
    theme: settings.theme ?? 'auto',
    ...(settings.ascii === true || settings.ambiguous === 'wide' ? { glyphs: 'ascii' as const } : {}),
    ambiguousWidth: (settings.ambiguous ?? 'auto') === 'auto' && EAST_ASIAN.test(term.locale) ? 'asked' : 'known',
    motion: isCi || settings.reducedMotion === true ? 'reduced' : 'full',
    proseWrap: settings.wrap ?? 'words',
    links: resolveLinks(term),
    banner: settings.banner === false ? 'off' : 'shown',
    times: settings.timestamps === true ? 'shown' : 'off',
    title: isDumb || settings.title === false ? 'off' : 'set',
    notify:
      settings.notify === 'off' || settings.notify === 'bell'
        ? settings.notify
        : term.isTmux
          ? 'tmux'
          : chooseNotifyMethod(term),
    progress: (settings.progress ?? supportsTerminalProgress(term)) ? 'shown' : 'off',
    ...(term.isTmux ? { tmux: async () => (await import('../../../ui/terminal/tmux.ts')).queryTmux() } : {}),
    dialogDelayMs: settings.dialogDelayMs ?? 400,
    vim: settings.editorMode === 'vim' ? 'on' : 'off',
    keymap: createKeymap(keys),
    keyProblems: problems,
    prompt,
    typedAhead,
    opens: opens ?? 'nothing',
    editor,
    now: Date.now,
  };
}

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

/** Hyperlinks are used only in terminals known to support them, and not inside tmux. */
function resolveLinks({ forceHyperlink, program, name, isTmux }: Environment['term']): ScreenOptions['links'] {
  if (forceHyperlink !== undefined) return forceHyperlink === '0' ? 'printed' : 'clickable';
  const isKnown = HYPERLINK_TERMINALS.includes(program ?? '') || name === 'xterm-kitty' || name === 'xterm-ghostty';
  return isKnown && !isTmux ? 'clickable' : 'printed';
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
