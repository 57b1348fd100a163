import { createElement } from 'react';
import { expect, test } from 'vitest';
import type { Panel as PanelData } from '../../../src/contracts/face/panel.ts';
import { asPrintable } from '../../../src/lib/printable.ts';
import { textWidth } from '../../../src/lib/text/text-width.ts';
import { edit } from '../../../src/ui/composer/edit.ts';
import { createEditor } from '../../../src/ui/composer/editor-state.ts';
import { Panel } from '../../../src/ui/panels/Panel.tsx';
import { createInkLayout } from '../../../src/ui/terminal/ink/ink-layout.ts';
import { LookContext } from '../../../src/ui/text/use-look.ts';
import { ASCII_GLYPHS, type Glyphs, UNICODE_GLYPHS } from '../../../src/ui/theme/glyphs.ts';
import { openPanel, type PanelView, renewPanel, searchPanel } from '../../../src/ui/view/panel-view.ts';
import { someOf } from '../../support/runs.ts';
import { DRAWING, renderPart } from '../components/render-part.tsx';
import { MODELS, RULES, WINDOW } from './some-panels.ts';

type Size = { readonly width?: number; readonly rows?: number; readonly glyphs?: Glyphs };

/** The rows of a panel, without colours. */
function picture(view: PanelView, { width = 80, rows = 16, glyphs = UNICODE_GLYPHS }: Size = {}): readonly string[] {
  return renderPart(<Panel view={view} rows={rows} />, { width, glyphs });
}

test('what holds is marked and under the cursor, and the keys are those that mean something there', () => {
  expect(picture(openPanel(MODELS, undefined))).toEqual([
    'Model  >    3',
    '  effort low',
    '    opus-5        1M window   $15 in, $75 out',
    '❯ ● sonnet-5      1M window   $3 in, $15 out',
    '    ollama/qwen3  32k window  price unknown',
    '    thinks as hard as the effort says',
    '  enter chooses · left/right effort · esc',
  ]);
});

test('groups head their rows, and what was searched for leaves the others out', () => {
  expect(picture(openPanel(RULES, undefined)).slice(2, 8)).toEqual([
    '  Rules, the strongest first',
    '❯   deny     Bash(rm:*) (/home/me/.ouro/settings.json:4)',
    '  ✗ allow    Bosh(x) (.claude/settings.local.json:2)',
    '  Decided last',
    '  ✓ allowed  Bash npm test',
    '',
  ]);
  expect(picture(searchPanel(openPanel(RULES, undefined), 'npm'))).toEqual([
    'Permissions  > npm   1 of 3',
    '  mode default, workspace /home/me/proj (trusted)',
    '  Decided last',
    '❯ ✓ allowed  Bash npm test',
    '    a rule allows it',
    '  ctrl+a adds a rule · ctrl+t tests a command · esc',
  ]);
  expect(picture(searchPanel(openPanel(RULES, undefined), 'nothing'))[2]).toBe('  Nothing here holds that.');
});

test('a line that is written, a second press that is waited for, and an answer stand where the keys stood', () => {
  const [act] = RULES.acts;
  if (act?.kind !== 'write') throw new Error('no act');
  const editor = edit(createEditor(), { type: 'set-text', text: 'allow Bash(npm test)' }, 0);
  const open = openPanel(RULES, undefined);
  expect(picture({ ...open, doing: { type: 'writing', act, editor } }).at(-1)).toBe(
    '  /permissions allow Bash(npm test)    enter sets, esc leaves it',
  );
  const forget = RULES.rows[0]?.acts[0];
  if (forget?.kind !== 'run') throw new Error('no act');
  expect(picture({ ...open, doing: { type: 'sure', act: forget } }).at(-1)).toBe(
    '  ctrl+d again forgets deny Bash(rm:*); any other key leaves it',
  );
  expect(picture({ ...open, said: { level: 'info', text: 'allow\n  rules    a rule allows it' } })).toEqual(
    expect.arrayContaining(['    allow', '      rules    a rule allows it']),
  );
});

test('in a narrow window the name gives way last, and every key is there', () => {
  expect(picture(openPanel(MODELS, undefined), { width: 40 })).toEqual([
    'Model  >    3',
    '  effort low',
    '    opus-5        1M window  $15 in, …',
    '❯ ● sonnet-5      1M window  $3 in, $…',
    '    ollama/qwen3  32k wind…  price un…',
    '    thinks as hard as the effort says',
    '  enter chooses · left/right effort',
    '  esc',
  ]);
  expect(picture(openPanel(RULES, undefined), { width: 40 }).slice(-3)).toEqual([
    '  ctrl+d forgets it',
    '  ctrl+a adds a rule',
    '  ctrl+t tests a command · esc',
  ]);
  const names = picture(openPanel(MODELS, undefined), { width: 24 }).slice(2, 5);
  expect(names).toEqual(['    opus-5', '❯ ● sonnet-5', '    ollama/qwen3']);
  // What has no column there stands below the list.
  const below = picture(openPanel(MODELS, undefined), { width: 24 }).slice(5, 7);
  expect(below).toEqual(['    1M window, $3 in,', '    $15 out']);
});

test('parts of a whole have bars, in ASCII too', () => {
  expect(picture(openPanel(WINDOW, undefined)).slice(3, 6)).toEqual([
    '❯   Messages  40k   ▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱',
    '    Tools     10k   ▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱',
    '    Free      150k  ▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▱▱▱▱▱',
  ]);
  expect(picture(openPanel(WINDOW, undefined), { glyphs: ASCII_GLYPHS })[3]).toBe(
    '>   Messages  40k   ####----------------',
  );
});

test('no panel is wider than its terminal or higher than its room, and the row under the cursor is always seen', () => {
  const many: PanelData = {
    ...RULES,
    rows: Array.from({ length: 60 }, (_, at) => ({
      id: `row ${at}`,
      group: `group ${Math.floor(at / 7)}`,
      cells: [`name${at}名`, 'x'.repeat((at * 13) % 90), 'a place'],
      detail: at % 3 === 0 ? ['long '.repeat(80)] : [],
      acts: [],
    })),
  };
  for (const width of someOf([20, 40, 80, 120], 2)) {
    // One Ink for all of them: each is started in many times the time of a frame.
    const layout = createInkLayout({ columns: width, rows: 24 });
    const look = { drawing: { ...DRAWING, width }, paint: asPrintable };
    for (const rows of someOf([3, 5, 8, 16], 2))
      for (let at = 0; at < 60; at += 11) {
        const view = { ...openPanel(many, undefined), at: `row ${at}` };
        const panel = createElement(Panel, { view, rows });
        const drawn = layout.rowsOf(createElement(LookContext, { value: look }, panel));
        expect(drawn.length).toBeLessThanOrEqual(rows);
        expect(Math.max(...drawn.map(textWidth))).toBeLessThan(width);
        expect(drawn.filter((row) => row.startsWith('❯'))).toHaveLength(1);
      }
    layout.close();
  }
});

test('made anew, a panel keeps its search and its cursor; the neighbour takes the place of a row that is gone', () => {
  const open = { ...openPanel(RULES, undefined), at: 'local allow Bosh(x)' };
  expect(renewPanel(open, { ...RULES, note: 'other' })).toMatchObject({ at: 'local allow Bosh(x)' });
  const without = { ...RULES, rows: RULES.rows.filter(({ id }) => id !== 'local allow Bosh(x)') };
  expect(renewPanel(open, without)).toMatchObject({ at: 'decision 0' });
});
