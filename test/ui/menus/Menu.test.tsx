import { expect, test } from 'vitest';
import { Menu } from '../../../src/ui/menus/Menu.tsx';
import { menuHeight, planMenu } from '../../../src/ui/menus/plan-menu.ts';
import type { Choice, Overlay } from '../../../src/ui/view/overlay.ts';
import { DRAWING, renderPart } from '../components/render-part.tsx';

const CHOICES: readonly Choice[] = ['auto', 'dark', 'light', 'ansi', 'none'].map((label) => ({
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
  const plan = planMenu(overlay, undefined, DRAWING, rows);
  const shown = renderPart(<Menu plan={plan} />);
  expect(shown).toHaveLength(menuHeight(plan));
  return shown;
}

test('the choice under the cursor is in sight, with the keys below', () => {
  expect(drawn(PICKER, 5)).toEqual([
    'Go back  >    5',
    '  dark   it is dark',
    '  light  it is light',
    '❯ ansi   it is ansi',
    '  enter chooses · esc',
  ]);
});

test('what is typed leaves what holds it, and how many there are is counted', () => {
  expect(drawn({ ...PICKER, query: 'l', selected: 0 }, 8)).toEqual([
    'Go back  > l   1 of 5',
    '❯ light  it is light',
    '  enter chooses · esc',
  ]);
});

test('names and what is said of them are cut to the room there is', () => {
  const choices = [{ id: 'a', label: 'a name that is very long indeed', detail: 'and words about it that go on' }];
  const plan = planMenu({ ...PICKER, choices, selected: 0 }, undefined, { ...DRAWING, width: 30 }, 5);
  const rows = renderPart(<Menu plan={plan} />, { width: 30 });
  expect(rows[1]).toBe('❯ a name that is…  and word…');
});

test('what may follow a command stands behind each where there is room, else with the one that is chosen', () => {
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
    const plan = planMenu({ kind: 'menu', target, choices, selected }, undefined, { ...DRAWING, width }, rows);
    return renderPart(<Menu plan={plan} />, { width });
  };
  expect(shown(-1, 100, 8)).toEqual([
    '  /config [key] | set <key> <valu…  every setting, and where it comes from',
    '  /cost                             tokens and money of this session',
    '  /model [name]                     choose another model',
    '  tab fills · enter runs · esc',
  ]);
  expect(shown(0, 60, 3)).toEqual([
    '❯ /config  every setting, and where it comes from',
    '  /cost    tokens and money of this session',
    '  tab fills · enter runs · esc · 3 in all · /config [key]…',
  ]);
  expect(shown(1, 60, 8).at(-1)).toBe('  tab fills · enter runs · esc');
});
