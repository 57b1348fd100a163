import { expect, test } from 'vitest';
import type { Overlay, OverlayChoice } from '../../../../src/ui/app-state/overlay.ts';
import { getMenuHeight, layoutMenu } from '../../../../src/ui/widgets/menu/layout-menu.ts';
import { Menu } from '../../../../src/ui/widgets/menu/Menu.tsx';
import { DRAWING, renderPart } from '../screen/render-part.tsx';

const CHOICES: readonly OverlayChoice[] = ['auto', 'dark', 'light', 'ansi', 'none'].map((label) => ({
  id: label,
  label,
  detail: `it is ${label}`,
}));
const PICKER = {
  kind: 'picker',
  purpose: 'rewind',
  title: 'Go back',
  choices: CHOICES,
  query: '',
  selected: 3,
} as const;

function drawn(overlay: Extract<Overlay, { kind: 'picker' }>, rows: number) {
  const plan = layoutMenu(overlay, undefined, DRAWING, rows);
  const shown = renderPart(<Menu layout={plan} />);
  expect(shown).toHaveLength(getMenuHeight(plan));
  return shown.map((row) => row.replace(/^▌ /, ''));
}

test('the selected row is visible, with the keys below', () => {
  expect(drawn(PICKER, 5)).toEqual([
    'Go back  >    5',
    '  dark   it is dark',
    '  light  it is light',
    '❯ ansi   it is ansi',
    '  enter selects · esc',
  ]);
});

test('the query filters the rows, and matches are counted', () => {
  expect(drawn({ ...PICKER, query: 'l', selected: 0 }, 8)).toEqual([
    'Go back  > l   1 of 5',
    '❯ light  it is light',
    '  enter selects · esc',
  ]);
});

test('names and descriptions are cut to the width', () => {
  const choices = [{ id: 'a', label: 'a name that is very long indeed', detail: 'and words about it that go on' }];
  const plan = layoutMenu({ ...PICKER, choices, selected: 0 }, undefined, { ...DRAWING, width: 32 }, 5);
  const rows = renderPart(<Menu layout={plan} />, { width: 32 });
  expect(rows[1]).toBe('▌ ❯ a name that is…  and word…');
});

test('arguments are shown after each command if there is space, else for the selected one', () => {
  const choices = [
    {
      id: 'config',
      label: '/config',
      hint: '[key] | set <key> <value>',
      detail: 'every setting, and where it comes from',
    },
    { id: 'cost', label: '/cost', detail: 'tokens and money of this session' },
    { id: 'model', label: '/model', hint: '[name]', detail: 'choose another model' },
  ];
  const target = { kind: 'command', query: '', from: 0, to: 1 } as const;
  const shown = (selected: number, width: number, rows: number) => {
    const plan = layoutMenu({ kind: 'menu', target, choices, selected }, undefined, { ...DRAWING, width }, rows);
    return renderPart(<Menu layout={plan} />, { width });
  };
  expect(shown(-1, 100, 8)).toEqual([
    '  /config [key] | set <key> <valu…  every setting, and where it comes from',
    '  /cost                             tokens and money of this session',
    '  /model [name]                     choose another model',
    '  tab completes · enter runs · esc',
  ]);
  expect(shown(0, 60, 3)).toEqual([
    '❯ /config  every setting, and where it comes from',
    '  /cost    tokens and money of this session',
    '  tab completes · enter runs · esc · 3 total · /config [k…',
  ]);
  expect(shown(1, 60, 8).at(-1)).toBe('  tab completes · enter runs · esc');
});

test('the whole list of commands has headings, and the chosen one stays in sight', () => {
  const choices = [
    { id: 'cost', label: '/cost', detail: 'what it costs', group: 'Recent' },
    { id: 'clear', label: '/clear', detail: 'starts anew', group: 'Conversation' },
    { id: 'copy', label: '/copy', detail: 'copies', group: 'Conversation' },
    { id: 'model', label: '/model', detail: 'chooses', group: 'Model' },
  ];
  const target = { kind: 'command', query: '', from: 0, to: 1 } as const;
  const draw = (selected: number) =>
    renderPart(<Menu layout={layoutMenu({ kind: 'menu', target, choices, selected }, undefined, DRAWING, 6)} />);
  expect(draw(0).slice(0, -1)).toEqual([
    '  Recent',
    '❯ /cost   what it costs',
    '  Conversation',
    '  /clear  starts anew',
    '  /copy   copies',
  ]);
  expect(draw(3).slice(0, -1)).toEqual([
    '  Conversation',
    '  /clear  starts anew',
    '  /copy   copies',
    '  Model',
    '❯ /model  chooses',
  ]);
});
