import type { Conversation } from '../../contracts/face/conversation.ts';
import type { ScreenOutput } from '../terminal/screen-output.ts';
import { type OwnTheme, THEME_NAMES } from '../theme/theme.ts';
import { printing, type ViewState } from '../view/view-state.ts';

/** The themes of the person's own on one screen. */
export type OwnThemes = {
  /** Reads them; answers with their names. */
  load(): Promise<readonly string[]>;
  /** The chosen theme: one of the person's own is read, and drawn anew whenever its file changes. */
  use(name: string): Promise<void>;
  /** The theme that was chosen last. */
  chosen(): string;
  close(): void;
};

type Parts = {
  readonly conversation: Pick<Conversation, 'themes'>;
  readonly output: Pick<ScreenOutput, 'setOwnThemes' | 'setTheme'>;
  readonly change: (update: (view: ViewState) => ViewState) => void;
  readonly repaint: () => void;
};

const OURS: readonly string[] = ['auto', ...THEME_NAMES];

export function createOwnThemes({ conversation, output, change, repaint }: Parts): OwnThemes {
  let stop: (() => void) | undefined;
  let chosen = 'auto';
  /** Each fault is shown once, not at every look. */
  let lastFault = '';

  const say = (text: string) => {
    if (text !== '' && text !== lastFault) change((view) => printing(view, { kind: 'notice', level: 'warn', text }));
    lastFault = text;
  };

  async function load(): Promise<readonly string[]> {
    const files = (await conversation.themes?.read()) ?? [];
    if (files.length === 0) return [];
    const { readOwnTheme } = await import('../theme/own-theme.ts');
    const read = files.map((file) => ({ name: file.name, outcome: readOwnTheme(file) }));
    say(read.flatMap(({ outcome }) => (outcome.ok ? [] : [outcome.why])).join('\n'));
    const themes = read.flatMap(({ name, outcome }): [string, OwnTheme][] =>
      outcome.ok && !OURS.includes(name) ? [[name, outcome.theme]] : [],
    );
    output.setOwnThemes(new Map(themes));
    return themes.map(([name]) => name);
  }

  return {
    load,
    async use(name) {
      stop?.();
      stop = undefined;
      chosen = name;
      output.setTheme(name);
      if (OURS.includes(name)) return;
      // Watched before it is read: a change between the two would be missed.
      stop = conversation.themes?.watch(() => void load().then(repaint, () => undefined)); // It is read again at its next change.
      const names = await load();
      if (!names.includes(name) && lastFault === '') {
        say(`There is no theme "${name}". There are: ${[...OURS, ...names].join(', ')}.`);
      }
      repaint();
    },
    chosen: () => chosen,
    close: () => stop?.(),
  };
}
