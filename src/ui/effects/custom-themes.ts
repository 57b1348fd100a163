import type { Conversation } from '../../contracts/frontend/conversation.ts';
import { addHistoryItems, type ViewState } from '../app-state/view-state.ts';
import type { ScreenOutput } from '../terminal/screen-output.ts';
import { type CustomTheme, THEME_NAMES } from '../theme/theme.ts';

/** The user's custom themes on one screen. */
export type CustomThemes = ReturnType<typeof createCustomThemes>;

type CustomThemesDeps = {
  readonly conversation: Pick<Conversation, 'themes'>;
  readonly output: Pick<ScreenOutput, 'setCustomThemes' | 'setTheme'>;
  readonly updateView: (update: (view: ViewState) => ViewState) => void;
  readonly repaint: () => void;
};

/** Themes that need no file. */
const BUILT_IN: readonly string[] = ['auto', ...THEME_NAMES];

/** Creates the loader of the themes of the user, which are read again when their file changes. */
export function createCustomThemes({ conversation, output, updateView, repaint }: CustomThemesDeps) {
  let stopWatching: (() => void) | undefined;
  let chosen = 'auto';
  /** Last reported problem; the same problem is not reported twice in a row. */
  let lastProblem = '';

  const report = (text: string) => {
    if (text !== '' && text !== lastProblem)
      updateView((view) => addHistoryItems(view, { kind: 'notice', level: 'warn', text }));
    lastProblem = text;
  };

  /** Reads the themes and returns their names. */
  async function load(): Promise<readonly string[]> {
    const files = (await conversation.themes?.read()) ?? [];
    if (files.length === 0) return [];
    const { parseThemeFile } = await import('../theme/parse-theme-file.ts');
    const parsed = files.map((file) => ({ name: file.name, outcome: parseThemeFile(file) }));
    report(parsed.flatMap(({ outcome }) => (outcome.ok ? [] : [outcome.problem])).join('\n'));
    const themes = parsed.flatMap(({ name, outcome }): [string, CustomTheme][] =>
      outcome.ok && !BUILT_IN.includes(name) ? [[name, outcome.theme]] : [],
    );
    output.setCustomThemes(new Map(themes));
    return themes.map(([name]) => name);
  }

  return {
    load,
    /** Switches to a theme. A custom theme is reloaded whenever its file changes. */
    async use(name: string) {
      stopWatching?.();
      stopWatching = undefined;
      chosen = name;
      output.setTheme(name);
      if (BUILT_IN.includes(name)) return;
      // Watching starts before the file is read, or a change between the two would be missed.
      stopWatching = conversation.themes?.watch(() => void load().then(repaint, () => undefined)); // After a failure it is read again at the next change.
      const names = await load();
      if (!names.includes(name) && lastProblem === '') {
        report(`Unknown theme "${name}". Available themes: ${[...BUILT_IN, ...names].join(', ')}.`);
      }
      repaint();
    },
    /** Returns the theme that was chosen last. */
    getChosen: (): string => chosen,
    close: () => stopWatching?.(),
  };
}
