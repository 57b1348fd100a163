import type { PanelAction, PanelContent, PanelRow } from '../../../contracts/frontend/command.ts';
import type { DraftEditorState } from '../composer/draft-editor-state.ts';

/** The state of an open panel: query, cursor and pending action. */
export type PanelState = {
  readonly kind: 'panel';
  readonly panel: PanelContent;
  readonly query: string;
  /** Id of the row under the cursor. */
  readonly selectedId: string;
  /** Current mode: moving and searching, typing a value, or confirming an action. */
  readonly mode:
    | { readonly type: 'choosing' }
    | {
        readonly type: 'writing';
        readonly action: Extract<PanelAction, { kind: 'write' }>;
        readonly editor: DraftEditorState;
      }
    | { readonly type: 'sure'; readonly action: Extract<PanelAction, { kind: 'run' }> };
  /** Result of the last action, shown until the next key. */
  readonly message: { readonly level: 'info' | 'warn'; readonly text: string } | undefined;
  /** Key of the last action; while it is held, the action is not repeated. */
  readonly lastAction: { readonly chord: string; readonly atMs: number } | undefined;
  readonly back: PanelState | undefined;
};

const CHOOSING = { type: 'choosing' } as const;

/** Creates the state of a panel, with the cursor on the current value. */
export function createPanelState(panel: PanelContent, back: PanelState | undefined): PanelState {
  const first = panel.rows.find(({ mark }) => mark === 'current') ?? panel.rows[0];
  return {
    kind: 'panel',
    panel,
    query: '',
    selectedId: first?.id ?? '',
    mode: CHOOSING,
    message: undefined,
    lastAction: undefined,
    back,
  };
}

/** Returns the rows that contain every word of the query, in any column or in the name of the group. */
export function filterPanelRows({ panel: { rows }, query }: PanelState): readonly PanelRow[] {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ cells, group = '' }) => {
    const text = `${group} ${cells.join(' ')}`.toLowerCase();
    return terms.every((term) => text.includes(term));
  });
}

/** Returns the row under the cursor, or the first row if that one is filtered out. */
export function getSelectedPanelRow(view: PanelState): PanelRow | undefined {
  const rows = filterPanelRows(view);
  return rows.find(({ id }) => id === view.selectedId) ?? rows[0];
}

/** Returns the available actions: those of the selected row, then those of the panel. */
export function listPanelActions(view: PanelState): readonly PanelAction[] {
  return [...(getSelectedPanelRow(view)?.actions ?? []), ...view.panel.actions];
}

/** Replaces the content of a panel and keeps the query and the cursor. */
export function replacePanelContent(view: PanelState, panel: PanelContent): PanelState {
  const row = getSelectedPanelRow(view);
  if (row === undefined || panel.rows.some(({ id }) => id === row.id)) return { ...view, panel };
  // The selected row is gone, so the row that takes its place is selected.
  const oldRows = filterPanelRows(view);
  const newRow =
    filterPanelRows({ ...view, panel })[oldRows.indexOf(row)] ?? filterPanelRows({ ...view, panel }).at(-1);
  return { ...view, panel, selectedId: newRow?.id ?? '' };
}

/** Moves the cursor by a number of rows, limited by the first and the last row. */
export function movePanelCursor(view: PanelState, step: number): PanelState {
  const rows = filterPanelRows(view);
  const row = getSelectedPanelRow(view);
  const from = row === undefined ? 0 : rows.indexOf(row);
  return { ...view, selectedId: rows[Math.max(0, Math.min(rows.length - 1, from + step))]?.id ?? '' };
}

/** Changes the query. The cursor stays on its row if it matches, otherwise it moves to the first match. */
export function setPanelQuery(view: PanelState, query: string): PanelState {
  const next: PanelState = { ...view, query };
  return { ...next, selectedId: getSelectedPanelRow(next)?.id ?? view.selectedId };
}

/** Sets a value before the command that changes it has run, so that the next key press continues from there. */
export function setPanelValue(
  view: PanelState,
  action: Extract<PanelAction, { kind: 'turn' }>,
  value: string,
): PanelState {
  const replaceAction = (all: readonly PanelAction[]) =>
    all.map((act) => (act === action ? { ...action, value } : act));
  const rows = view.panel.rows.map((row): PanelRow => ({ ...row, actions: replaceAction(row.actions) }));
  return { ...view, panel: { ...view.panel, rows, actions: replaceAction(view.panel.actions) } };
}

/** Returns the value before or after the current one, wrapping around. */
export function cyclePanelValue(
  { values, value }: Extract<PanelAction, { kind: 'turn' }>,
  step: 1 | -1,
): string | undefined {
  const index = values.indexOf(value);
  return values[index === -1 && step === -1 ? values.length - 1 : (index + step + values.length) % values.length];
}
