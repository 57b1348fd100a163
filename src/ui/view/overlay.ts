import type { CommandInfo } from '../../contracts/command.ts';
import type { CompletionTarget } from '../composer/draft-kind.ts';
import type { Viewer } from '../viewer/viewer-state.ts';

/** A line of a list to choose from. */
export type Choice = {
  readonly id: string;
  readonly label: string;
  /** What may follow the label: the argument of a command. */
  readonly hint?: string;
  readonly detail: string;
};

export type PickerPurpose = 'model' | 'theme' | 'rewind' | 'restore' | 'resume';

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
  | { readonly kind: 'help'; readonly filter: string; readonly typing: 'yes' | 'no' }
  /** Takes the whole screen. */
  | { readonly kind: 'viewer'; readonly viewer: Viewer };

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

/** The choices of a picker that hold every word of what was typed. */
export function pickerChoices(overlay: Extract<Overlay, { kind: 'picker' }>): readonly Choice[] {
  const words = overlay.query.toLowerCase().split(/\s+/).filter(Boolean);
  return overlay.choices.filter((choice) => {
    const text = `${choice.label} ${choice.detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
