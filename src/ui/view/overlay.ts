import type { CommandInfo } from '../../contracts/face/command.ts';
import type { SessionScope } from '../../contracts/face/stored-sessions.ts';
import type { CompletionTarget } from '../composer/draft-kind.ts';
import type { PanelView } from './panel-view.ts';
import type { Viewer } from './viewer-state.ts';

/** A line of a list to choose from. */
export type Choice = {
  readonly id: string;
  readonly label: string;
  /** What may follow the label: the argument of a command. */
  readonly hint?: string;
  readonly detail: string;
};

export type PickerPurpose = 'theme' | 'rewind' | 'restore';

/** The sessions that can be gone on in: titles at once, what was said in them as it is found. */
export type SessionList = {
  readonly kind: 'sessions';
  readonly scope: SessionScope;
  readonly choices: readonly Choice[];
  readonly found: readonly Choice[];
  readonly query: string;
  readonly selected: number;
  /** What is being done to the selected one; `words` is its new name. */
  readonly doing: { readonly type: 'choosing' | 'removing' } | { readonly type: 'renaming'; readonly words: string };
};

/** What is open below the draft. There is at most one. */
export type Overlay =
  | {
      readonly kind: 'menu';
      readonly target: CompletionTarget;
      readonly choices: readonly Choice[];
      readonly selected: number;
    }
  | {
      readonly kind: 'picker';
      readonly purpose: PickerPurpose;
      readonly title: string;
      readonly choices: readonly Choice[];
      readonly query: string;
      readonly selected: number;
    }
  | SessionList
  | PanelView
  | { readonly kind: 'help'; readonly filter: string; readonly isFiltering: boolean }
  /** Takes the whole screen; what was open before is open again afterwards. */
  | { readonly kind: 'viewer'; readonly viewer: Viewer; readonly back?: SessionList | PanelView };

/** Does it take every key? Then no question hears any, nor the draft. */
export function takesKeys(overlay: Overlay | undefined): boolean {
  return overlay !== undefined && overlay.kind !== 'menu' && overlay.kind !== 'help';
}

/** Commands that fit what was typed behind the slash: beginnings first, then anything that holds it. */
export function commandChoices(commands: readonly CommandInfo[], query: string): readonly Choice[] {
  const wanted = query.toLowerCase();
  const rank = (command: CommandInfo) => {
    const names = [command.name, ...(command.aliases ?? [])].map((name) => name.toLowerCase());
    if (names.some((name) => name.startsWith(wanted))) return 0;
    return names.some((name) => name.includes(wanted)) ? 1 : 2;
  };
  return commands
    .map((command) => ({ command, rank: rank(command) }))
    .filter((one) => one.rank < 2)
    .sort((a, b) => a.rank - b.rank || a.command.name.localeCompare(b.command.name))
    .map(({ command }) => ({
      id: command.name,
      label: `/${command.name}`,
      ...(command.argumentHint === undefined ? {} : { hint: command.argumentHint }),
      detail: command.source === 'builtin' ? command.description : `${command.description} (${command.source})`,
    }));
}

/** The sessions whose titles hold what was typed, then those in which it was said. */
export function sessionChoices({ choices, found, query }: SessionList): readonly Choice[] {
  const titled = holding(choices, query);
  const known = new Set(titled.map(({ id }) => id));
  return [...titled, ...found.filter(({ id }) => !known.has(id))];
}

/** The choices of a picker that hold every word of what was typed. */
export function pickerChoices({ choices, query }: Extract<Overlay, { kind: 'picker' }>): readonly Choice[] {
  return holding(choices, query);
}

function holding(choices: readonly Choice[], query: string): readonly Choice[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter((choice) => {
    const text = `${choice.label} ${choice.detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
