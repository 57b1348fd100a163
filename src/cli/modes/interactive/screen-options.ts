import type { Environment } from '../../../contracts/environment.ts';
import type { FrontendSettings } from '../../../contracts/frontend/frontend-settings.ts';
import { createKeymap, resolveUserKeyBindings } from '../../../ui/input/keymap.ts';
import { detectTerminalRendering } from '../../../ui/terminal/detect-rendering.ts';
import { chooseNotifyMethod, supportsTerminalProgress } from '../../../ui/terminal/osc-sequences.ts';
import type { ScreenOptions } from '../../../ui/terminal/screen-options.ts';
import type { InteractiveStart } from './first-run.ts';

/** Terminals with hyperlink support, by `TERM_PROGRAM`. */
const HYPERLINK_TERMINALS: readonly string[] = ['iTerm.app', 'WezTerm', 'ghostty', 'vscode', 'Hyper', 'Tabby'];
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

/** Hyperlinks are used only in terminals known to support them, and not inside tmux. */
function resolveLinks({ forceHyperlink, program, name, isTmux }: Environment['term']): ScreenOptions['links'] {
  if (forceHyperlink !== undefined) return forceHyperlink === '0' ? 'printed' : 'clickable';
  const isKnown = HYPERLINK_TERMINALS.includes(program ?? '') || name === 'xterm-kitty' || name === 'xterm-ghostty';
  return isKnown && !isTmux ? 'clickable' : 'printed';
}
