import { printableName } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import { fitLine, type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import { type Choice, type Overlay, pickerChoices, type SessionList, sessionChoices } from '../view/overlay.ts';
import { themeSample } from './theme-sample.ts';

/** A list to choose from, fitted to the room there is. */
export type MenuPlan = {
  readonly head: LogicalLine | undefined;
  /** The choices around the one under the cursor. */
  readonly choices: readonly Choice[];
  readonly selected: Choice | undefined;
  /** What was typed to find it. */
  readonly query: string;
  /** How many columns the names take, and whether what may follow a name stands behind each. */
  readonly columns: number;
  readonly hints: 'shown' | 'none';
  /** What stands below the choices: a sample of a theme, the keys. */
  readonly foot: readonly LogicalLine[];
};

type ListOverlay = Extract<Overlay, { kind: 'menu' | 'picker' | 'sessions' }>;

const WIDEST_HINT = 24;
/** Below so many columns the keys of sessions are only named. */
const NARROW = 78;
const WHERE = { folder: 'this folder', branch: 'this branch', all: 'everywhere' } as const;
const SESSION_KEYS = ['enter opens', 'right looks', 'ctrl+r name', 'ctrl+f copy', 'ctrl+d delete', 'esc'];
const SHORT_KEYS = ['enter', 'right', 'ctrl+r/f/d', 'esc'];

/** Lays a list out in at most so many rows. */
export function planMenu(overlay: ListOverlay, branch: string | undefined, drawing: Drawing, rows: number): MenuPlan {
  switch (overlay.kind) {
    case 'menu':
      return completions(overlay, drawing, rows);
    case 'picker': {
      const choices = pickerChoices(overlay);
      const count = choices.length === overlay.choices.length ? '' : ` of ${overlay.choices.length}`;
      const head = headLine(overlay.title, overlay.query, `${choices.length}${count}`);
      const sample = overlay.purpose === 'theme' ? themeSample(drawing, rows - 1) : [];
      const keys = rows > 2 ? [footLine(['enter chooses', 'esc'], drawing)] : [];
      return listed({ head, choices, foot: [...sample, ...keys] }, overlay, drawing, rows);
    }
    default:
      return sessions(overlay, branch, drawing, rows);
  }
}

/** How many rows a list takes. */
export function menuHeight({ head, choices, foot }: MenuPlan): number {
  return (head === undefined ? 0 : 1) + choices.length + foot.length;
}

/** The menu of the word at the caret, with the keys that work in it. */
function completions(
  { choices, selected, target }: Extract<ListOverlay, { kind: 'menu' }>,
  drawing: Drawing,
  rows: number,
) {
  const keys = target.kind === 'command' ? ['tab fills', 'enter runs', 'esc'] : ['tab or enter fills', 'esc'];
  const hasFoot = rows > 2 && choices.length > 0;
  const more = choices.length > rows - 1 ? [`${choices.length} in all`] : [];
  // What may follow stands with the one that is chosen, where there is no room for it behind each.
  const one = choices[selected] ?? (choices.length === 1 ? choices[0] : undefined);
  const usage = one?.hint === undefined || hintsOf(choices, drawing) === 'shown' ? [] : [`${one.label} ${one.hint}`];
  const foot = hasFoot ? [footLine([...keys, ...more, ...usage.map(printableName)], drawing)] : [];
  return listed({ head: undefined, choices, foot }, { selected, query: target.query }, drawing, rows);
}

/** What may follow a name stands behind each where no description is cut for it. */
function hintsOf(choices: readonly Choice[], { width }: Drawing): MenuPlan['hints'] {
  const widest = (of: (choice: Choice) => string) =>
    Math.max(0, ...choices.map((one) => textWidth(printableName(of(one)))));
  const names = widest((one) => one.label + hintOf(one));
  return names + widest(({ detail }) => detail) + 6 <= width && names <= width / 2 ? 'shown' : 'none';
}

/** The list of sessions: what is searched for, the sessions that fit, and what can be done with them. */
function sessions(list: SessionList, branch: string | undefined, drawing: Drawing, rows: number): MenuPlan {
  const scopes = branch === undefined ? 'folder or everywhere' : 'folder, everywhere, branch';
  const choices = sessionChoices(list);
  const count = `${choices.length} of ${list.choices.length}`;
  const where = `${WHERE[list.scope]}${drawing.glyphs.separator}${count}   tab: ${scopes}`;
  const head = headLine('Resume', list.query, where);
  const none = terminalLine(
    toned('dim', list.query === '' ? '    No other session yet.' : '    No session says that.'),
  );
  const foot = [...(choices.length === 0 ? [none] : []), ...(rows > 2 ? [sessionFoot(list, drawing)] : [])];
  return listed({ head, choices, foot }, list, drawing, rows);
}

function sessionFoot({ doing }: SessionList, drawing: Drawing): LogicalLine {
  switch (doing.type) {
    case 'renaming':
      return terminalLine(plain(`  new name: ${doing.words}_`));
    case 'removing':
      return terminalLine(toned('warn', '  ctrl+d again deletes it for good; any other key keeps it'));
    default:
      return footLine(drawing.width < NARROW ? SHORT_KEYS : SESSION_KEYS, drawing);
  }
}

function headLine(title: string, query: string, facts: string): LogicalLine {
  const name: Span = { text: title, style: { token: 'accent', bold: true } };
  return terminalLine(name, plain(`  > ${query}`), toned('dim', `   ${facts}`));
}

function footLine(keys: readonly string[], { glyphs }: Drawing): LogicalLine {
  return terminalLine(toned('dim', `  ${keys.join(glyphs.separator)}`));
}

/** Gives the choices the rows that head and foot leave, with the one under the cursor in sight. */
function listed(
  { head, choices, foot }: Pick<MenuPlan, 'head' | 'choices' | 'foot'>,
  { selected, query }: { readonly selected: number; readonly query: string },
  drawing: Drawing,
  rows: number,
): MenuPlan {
  const room = Math.max(1, rows - foot.length - (head === undefined ? 0 : 1));
  const from = Math.max(0, Math.min(selected - room + 1, choices.length - room));
  const shown = choices.slice(from, from + room);
  const hints = hintsOf(choices, drawing);
  const widest = Math.max(
    0,
    ...shown.map((choice) => textWidth(printableName(choice.label) + (hints === 'shown' ? hintOf(choice) : ''))),
  );
  const columns = Math.min(Math.max(Math.floor(drawing.width / 2), 10), widest);
  const fitted = (line: LogicalLine) => fitLine(line, drawing.width);
  return {
    head: head === undefined ? undefined : fitted(head),
    choices: shown,
    selected: choices[selected],
    query,
    columns,
    hints,
    foot: foot.map(fitted),
  };
}

/** What may follow the name of a choice. */
export function hintOf({ hint }: Choice): string {
  return hint === undefined ? '' : ` ${truncateEnd(printableName(hint), WIDEST_HINT)}`;
}
