import { createElement } from 'react';
import { expect, test } from 'vitest';
import type { PanelContent as PanelData, PanelRow } from '../../../../src/contracts/frontend/command.ts';
import { markAsPrintable } from '../../../../src/lib/printable.ts';
import { getTextWidth } from '../../../../src/lib/text/text-width.ts';
import { createInkLayout } from '../../../../src/ui/terminal/ink-layout.ts';
import { FRAME_COLUMNS } from '../../../../src/ui/text/Frame.tsx';
import { ScreenContext, type ScreenContextValue } from '../../../../src/ui/text/render-context.ts';
import { ASCII_GLYPHS, type Glyphs, UNICODE_GLYPHS } from '../../../../src/ui/theme/glyphs.ts';
import { applyDraftEditorAction } from '../../../../src/ui/widgets/composer/draft-editor-actions.ts';
import { createDraftEditor } from '../../../../src/ui/widgets/composer/draft-editor-state.ts';
import { Panel } from '../../../../src/ui/widgets/panel/Panel.tsx';
import {
  createPanelState,
  type PanelState,
  replacePanelContent,
  setPanelQuery,
} from '../../../../src/ui/widgets/panel/panel-state.ts';
import { someOf } from '../../../support/runs.ts';
import { DRAWING, renderPart } from '../screen/render-part.tsx';
import { MODELS, RULES, WINDOW } from './some-panels.ts';

type Size = { readonly width?: number; readonly rows?: number; readonly glyphs?: Glyphs };

/** The rows of a panel without colours and frame; `width` is the width inside the frame. */
function picture(view: PanelState, { width = 80, rows = 16, glyphs = UNICODE_GLYPHS }: Size = {}): readonly string[] {
  const framed = renderPart(<Panel view={view} rows={rows} />, { width: width + FRAME_COLUMNS, glyphs });
  expect(framed.filter((row) => !row.startsWith(glyphs.bar))).toEqual([]);
  return framed.map((row) => row.slice(FRAME_COLUMNS));
}

test('the current value is marked and selected, and only meaningful keys are shown', () => {
  expect(picture(createPanelState(MODELS, undefined))).toEqual([
    'Model  >    3',
    '  effort low',
    '    opus-5        1M window   $15 in, $75 out',
    '❯ ● sonnet-5      1M window   $3 in, $15 out',
    '    ollama/qwen3  32k window  price unknown',
    '    thinks as hard as the effort says',
    '  enter chooses · left/right effort · esc',
  ]);
});

test('groups have headings, and a query hides the others', () => {
  expect(picture(createPanelState(RULES, undefined)).slice(2, 8)).toEqual([
    '  Rules, the strongest first',
    '❯   deny     Bash(rm:*) (/home/me/.ouro/settings.json:4)',
    '  ✗ allow    Bosh(x) (.claude/settings.local.json:2)',
    '  Decided last',
    '  ✓ allowed  Bash npm test',
    '',
  ]);
  expect(picture(setPanelQuery(createPanelState(RULES, undefined), 'npm'))).toEqual([
    'Permissions  > npm   1 of 3',
    '  mode default, workspace /home/me/proj (trusted)',
    '  Decided last',
    '❯ ✓ allowed  Bash npm test',
    '    a rule allows it',
    '  ctrl+a adds a rule · ctrl+t tests a command · esc',
  ]);
  expect(picture(setPanelQuery(createPanelState(RULES, undefined), 'nothing'))[2]).toBe('  No match.');
});

test('an input line, a confirmation and a message replace the keys', () => {
  const [action] = RULES.actions;
  if (action?.kind !== 'write') throw new Error('no act');
  const editor = applyDraftEditorAction(createDraftEditor(), { type: 'set-text', text: 'allow Bash(npm test)' }, 0);
  const open = createPanelState(RULES, undefined);
  expect(picture({ ...open, mode: { type: 'writing', action, editor } }).at(-1)).toBe(
    '  /permissions allow Bash(npm test)    enter saves, esc cancels',
  );
  const forget = RULES.rows[0]?.actions[0];
  if (forget?.kind !== 'run') throw new Error('no act');
  expect(picture({ ...open, mode: { type: 'sure', action: forget } }).at(-1)).toBe(
    '  ctrl+d again forgets deny Bash(rm:*); any other key cancels',
  );
  expect(picture({ ...open, message: { level: 'info', text: 'allow\n  rules    a rule allows it' } })).toEqual(
    expect.arrayContaining(['    allow', '      rules    a rule allows it']),
  );
});

test('in a narrow window the name is shortened last, and every key is shown', () => {
  expect(picture(createPanelState(MODELS, undefined), { width: 40 })).toEqual([
    'Model  >    3',
    '  effort low',
    '    opus-5        1M window  $15 in, …',
    '❯ ● sonnet-5      1M window  $3 in, $…',
    '    ollama/qwen3  32k wind…  price un…',
    '    thinks as hard as the effort says',
    '  enter chooses · left/right effort',
    '  esc',
  ]);
  expect(picture(createPanelState(RULES, undefined), { width: 40 }).slice(-3)).toEqual([
    '  ctrl+d forgets it',
    '  ctrl+a adds a rule',
    '  ctrl+t tests a command · esc',
  ]);
  const names = picture(createPanelState(MODELS, undefined), { width: 24 }).slice(2, 5);
  expect(names).toEqual(['    opus-5', '❯ ● sonnet-5', '    ollama/qwen3']);
  // What has no column there stands below the list.
  const below = picture(createPanelState(MODELS, undefined), { width: 24 }).slice(5, 7);
  expect(below).toEqual(['    1M window, $3 in,', '    $15 out']);
});

test('shares have bars, in ASCII too', () => {
  expect(picture(createPanelState(WINDOW, undefined)).slice(3, 6)).toEqual([
    '❯   Messages  40k   ▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱',
    '    Tools     10k   ▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱',
    '    Free      150k  ▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▱▱▱▱▱',
  ]);
  expect(picture(createPanelState(WINDOW, undefined), { glyphs: ASCII_GLYPHS })[3]).toBe(
    '>   Messages  40k   ####................',
  );
  const [row, ...others] = WINDOW.rows;
  const rows = row === undefined ? [] : [{ ...row, share: 0.0004 }, ...others];
  expect(picture(createPanelState({ ...WINDOW, rows }, undefined))[3]).toBe('❯   Messages  40k   ▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱');
});

test('no panel is wider than its terminal or higher than its space, and the selected row is always visible', () => {
  const many: PanelData = {
    ...RULES,
    rows: Array.from(
      { length: 60 },
      (_, at): PanelRow => ({
        id: `row ${at}`,
        group: `group ${Math.floor(at / 7)}`,
        cells: [`name${at}名`, 'x'.repeat((at * 13) % 90), 'a place'],
        detail: at % 3 === 0 ? ['long '.repeat(80)] : [],
        actions: [],
      }),
    ),
  };
  for (const width of someOf([20, 40, 80, 120], 2)) {
    // One Ink for all of them: each is started in many times the time of a frame.
    const layout = createInkLayout({ columns: width, rows: 24 });
    const look: ScreenContextValue = { context: { ...DRAWING, width }, paint: markAsPrintable };
    for (const rows of someOf([3, 5, 8, 16], 2))
      for (let at = 0; at < 60; at += 11) {
        const view: PanelState = { ...createPanelState(many, undefined), selectedId: `row ${at}` };
        const panel = createElement(Panel, { view, rows });
        const drawn = layout.layoutRows(createElement(ScreenContext, { value: look }, panel));
        expect(drawn.length).toBeLessThanOrEqual(rows);
        expect(Math.max(...drawn.map(getTextWidth))).toBeLessThan(width);
        expect(drawn.filter((row) => row.startsWith('▌ ❯'))).toHaveLength(1);
      }
    layout.close();
  }
});

test('a refreshed panel keeps its query and its selection; a neighbour replaces a removed row', () => {
  const open: PanelState = { ...createPanelState(RULES, undefined), selectedId: 'local allow Bosh(x)' };
  expect(replacePanelContent(open, { ...RULES, note: 'other' })).toMatchObject<Partial<PanelState>>({
    selectedId: 'local allow Bosh(x)',
  });
  const without = { ...RULES, rows: RULES.rows.filter(({ id }) => id !== 'local allow Bosh(x)') };
  expect(replacePanelContent(open, without)).toMatchObject<Partial<PanelState>>({ selectedId: 'decision 0' });
});
