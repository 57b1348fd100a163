import type { Panel, PanelAct, PanelRow } from '../../contracts/face/panel.ts';
import type { EditorState } from '../composer/editor-state.ts';

/** A panel that is open: what is searched for, where the cursor is, what is being done. */
export type PanelView = {
  readonly kind: 'panel';
  readonly panel: Panel;
  readonly query: string;
  /** The row under the cursor, by its id. */
  readonly at: string;
  readonly doing:
    | { readonly type: 'choosing' }
    | { readonly type: 'writing'; readonly act: Extract<PanelAct, { kind: 'write' }>; readonly editor: EditorState }
    | { readonly type: 'sure'; readonly act: Extract<PanelAct, { kind: 'run' }> };
  /** What came of the last thing done, until the next key. */
  readonly said: { readonly level: 'info' | 'warn'; readonly text: string } | undefined;
  /** The key that did something here last: held, it does not do it again. */
  readonly acted: { readonly chord: string; readonly atMs: number } | undefined;
  /** The panel this one was opened from. */
  readonly back: PanelView | undefined;
};

const CHOOSING = { type: 'choosing' } as const;

/** A panel as it opens: the cursor is on what holds now. */
export function openPanel(panel: Panel, back: PanelView | undefined): PanelView {
  const first = panel.rows.find(({ mark }) => mark === 'current') ?? panel.rows[0];
  return {
    kind: 'panel',
    panel,
    query: '',
    at: first?.id ?? '',
    doing: CHOOSING,
    said: undefined,
    acted: undefined,
    back,
  };
}

/** The rows that hold every word of what was typed, in any of their columns or their group. */
export function panelRows({ panel: { rows }, query }: Pick<PanelView, 'panel' | 'query'>): readonly PanelRow[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ cells, group = '' }) => {
    const text = `${group} ${cells.join(' ')}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The row under the cursor; the first where that one is not shown. */
export function panelRow(view: PanelView): PanelRow | undefined {
  const rows = panelRows(view);
  return rows.find(({ id }) => id === view.at) ?? rows[0];
}

/** What can be done where the cursor is: with its row, then with the whole. */
export function panelActs(view: PanelView): readonly PanelAct[] {
  return [...(panelRow(view)?.acts ?? []), ...view.panel.acts];
}

/** The same panel made anew: search and cursor stay where they are. */
export function renewPanel(view: PanelView, panel: Panel): PanelView {
  const row = panelRow(view);
  if (row === undefined || panel.rows.some(({ id }) => id === row.id)) return { ...view, panel };
  // What was under the cursor is gone: its neighbour comes into its place.
  const before = panelRows(view);
  const next = panelRows({ ...view, panel })[before.indexOf(row)] ?? panelRows({ ...view, panel }).at(-1);
  return { ...view, panel, at: next?.id ?? '' };
}

/** The cursor so many rows further, held at the ends. */
export function movePanel(view: PanelView, by: number): PanelView {
  const rows = panelRows(view);
  const row = panelRow(view);
  const from = row === undefined ? 0 : rows.indexOf(row);
  return { ...view, at: rows[Math.max(0, Math.min(rows.length - 1, from + by))]?.id ?? '' };
}

/** Another search; the cursor goes to the first row that fits, or stays. */
export function searchPanel(view: PanelView, query: string): PanelView {
  const next = { ...view, query };
  return { ...next, at: panelRow(next)?.id ?? view.at };
}

/** The panel as it will be once the value holds, so that the next press goes on from there. */
export function withValue(view: PanelView, turn: Extract<PanelAct, { kind: 'turn' }>, value: string): PanelView {
  const acts = (all: readonly PanelAct[]) => all.map((act) => (act === turn ? { ...turn, value } : act));
  const rows = view.panel.rows.map((row) => ({ ...row, acts: acts(row.acts) }));
  return { ...view, panel: { ...view.panel, rows, acts: acts(view.panel.acts) } };
}

/** The value to the left or right of the one that holds; it goes round. */
export function turned({ values, value }: Extract<PanelAct, { kind: 'turn' }>, by: 1 | -1): string | undefined {
  const at = values.indexOf(value);
  return values[at === -1 && by === -1 ? values.length - 1 : (at + by + values.length) % values.length];
}
