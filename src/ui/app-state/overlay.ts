import type { CommandInfo } from '../../contracts/frontend/command.ts';
import type { SessionListScope } from '../../contracts/frontend/conversation.ts';
import type { CompletionTarget } from '../widgets/composer/classify-draft.ts';
import type { PanelState } from '../widgets/panel/panel-state.ts';
import type { ViewerState } from '../widgets/viewer/viewer-state.ts';

/** One entry of a menu or list. */
export type OverlayChoice = {
  readonly id: string;
  readonly label: string;
  /** Argument hint of a command, shown after the label. */
  readonly hint?: string;
  readonly detail: string;
  /** Heading above the first choice of a group. */
  readonly group?: string;
};

/** The effect of choosing an entry of a picker. */
export type PickerPurpose = 'theme' | 'rewind' | 'restore';

/** The list of resumable sessions: matching titles at once, matches in their messages as they are found. */
export type ResumableSessionList = {
  readonly kind: 'sessions';
  readonly scope: SessionListScope;
  readonly choices: readonly OverlayChoice[];
  readonly messageMatches: readonly OverlayChoice[];
  readonly query: string;
  readonly selected: number;
  /** Pending action on the selected session; `title` is its new title. */
  readonly mode: { readonly type: 'choosing' | 'removing' } | { readonly type: 'renaming'; readonly title: string };
};

/** The open overlay: below the draft, or the viewer on the full screen. There is at most one. */
export type Overlay =
  | {
      readonly kind: 'menu';
      readonly target: CompletionTarget;
      readonly choices: readonly OverlayChoice[];
      readonly selected: number;
    }
  | {
      readonly kind: 'picker';
      readonly purpose: PickerPurpose;
      readonly title: string;
      readonly choices: readonly OverlayChoice[];
      readonly query: string;
      readonly selected: number;
    }
  | ResumableSessionList
  | PanelState
  | { readonly kind: 'help'; readonly filter: string; readonly isFiltering: boolean }
  /** Fills the screen; closing it opens the previous overlay again. */
  | { readonly kind: 'viewer'; readonly viewer: ViewerState; readonly back?: ResumableSessionList | PanelState };

/** Returns whether the overlay receives all keys, so that neither a dialog nor the draft gets any. */
export function isModalOverlay(overlay: Overlay | undefined): boolean {
  return overlay !== undefined && overlay.kind !== 'menu' && overlay.kind !== 'help';
}

/** Recently used commands that the whole menu lists first. */
const MAX_RECENT = 3;

/** Lists all commands in groups: the recent ones (newest first), those of user and project, built-in. */
function groupCommands(commands: readonly CommandInfo[], recent: readonly string[]): readonly OverlayChoice[] {
  const find = (name: string) => commands.filter((command) => command.name === name);
  const latest = recent.flatMap(find).slice(0, MAX_RECENT);
  const others = commands.filter((command) => !latest.includes(command));
  const own = others.filter(({ group }) => group === undefined);
  const grouped = others.flatMap((command) => (command.group === undefined ? [] : [{ command, group: command.group }]));
  return [
    ...latest.map((command) => ({ ...describeCommand(command), group: 'Recent' })),
    ...own.toSorted(compareNames).map((command) => ({ ...describeCommand(command), group: 'Your commands' })),
    ...grouped
      .toSorted((a, b) => a.group.position - b.group.position)
      .map(({ command, group }) => ({ ...describeCommand(command), group: group.label })),
  ];
}

function compareNames(a: CommandInfo, b: CommandInfo): number {
  return a.name.localeCompare(b.name, 'en');
}

/** Returns the commands that match a query: exact, starting, then containing; recent ones first. */
export function filterCommands(
  commands: readonly CommandInfo[],
  query: string,
  recent: readonly string[] = [],
): readonly OverlayChoice[] {
  if (query === '') return groupCommands(commands, recent);
  const lowerQuery = query.toLowerCase();
  const getRank = (command: CommandInfo) => {
    const names = [command.name, ...(command.aliases ?? [])].map((name) => name.toLowerCase());
    if (names.includes(lowerQuery)) return 0;
    if (names.some((name) => name.startsWith(lowerQuery))) return 1;
    return names.some((name) => name.includes(lowerQuery)) ? 2 : 3;
  };
  const getAge = ({ name }: CommandInfo) => (recent.includes(name) ? recent.indexOf(name) : recent.length);
  return commands
    .map((command) => ({ command, rank: getRank(command), age: getAge(command) }))
    .filter((entry) => entry.rank < 3)
    .sort((a, b) => a.rank - b.rank || a.age - b.age || compareNames(a.command, b.command))
    .map(({ command }) => describeCommand(command, findTypedName(command, lowerQuery)));
}

/** Returns the name of a command that a query stands for: its own name, or the alias that is being typed. */
function findTypedName({ name, aliases = [] }: CommandInfo, lowerQuery: string): string {
  const names = [name, ...aliases];
  const typed = names.find((one) => one.toLowerCase() === lowerQuery);
  return typed ?? names.find((one) => one.toLowerCase().startsWith(lowerQuery)) ?? name;
}

function describeCommand(command: CommandInfo, name = command.name): OverlayChoice {
  const { argumentHint, source, description } = command;
  return {
    id: name,
    label: `/${name}`,
    ...(argumentHint === undefined ? {} : { hint: argumentHint }),
    detail: source === 'builtin' ? description : `${description} (${source})`,
  };
}

/** Returns the sessions whose titles match the query, then those whose messages match. */
export function filterSessions({ choices, messageMatches, query }: ResumableSessionList): readonly OverlayChoice[] {
  const byTitle = filterByWords(choices, query);
  const listedIds = new Set(byTitle.map(({ id }) => id));
  return [...byTitle, ...messageMatches.filter(({ id }) => !listedIds.has(id))];
}

/** Returns the choices of a picker that contain every word of its query. */
export function filterPickerChoices({
  choices,
  query,
}: Extract<Overlay, { kind: 'picker' }>): readonly OverlayChoice[] {
  return filterByWords(choices, query);
}

function filterByWords(choices: readonly OverlayChoice[], query: string): readonly OverlayChoice[] {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter((choice) => {
    const text = `${choice.label} ${choice.detail}`.toLowerCase();
    return terms.every((term) => text.includes(term));
  });
}
