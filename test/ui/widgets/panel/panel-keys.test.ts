import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Overlay } from '../../../../src/ui/app-state/overlay.ts';
import {
  createPanelState,
  getSelectedPanelRow,
  type PanelState,
} from '../../../../src/ui/widgets/panel/panel-state.ts';
import { longTest } from '../../../support/long-test.ts';
import { runs, someOf } from '../../../support/runs.ts';
import { begins, permission, starts } from '../screen/events.ts';
import { openStage, type StageScreen } from '../screen/stage-screen.ts';
import { MODELS, RULES, SWITCHES } from './some-panels.ts';

function stageWith(panel = RULES): StageScreen {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.change((view) => ({ ...view, overlay: createPanelState(panel, undefined) }));
  return screen;
}

function panelOf(screen: StageScreen): PanelState {
  const { overlay } = screen.view();
  if (overlay?.kind !== 'panel') throw new Error('no panel is open');
  return overlay;
}

test('letters search, arrows move, ESC closes, and the draft receives none of it', () => {
  const screen = stageWith();
  screen.type('bash');
  screen.press('down');
  expect([panelOf(screen).query, getSelectedPanelRow(panelOf(screen))?.id]).toEqual(['bash', 'decision 0']);
  screen.press('ctrl+u', 'home', 'end', 'pageup');
  expect(getSelectedPanelRow(panelOf(screen))?.id).toBe('user deny Bash(rm:*)');
  screen.paste('npm test');
  expect(panelOf(screen).query).toBe('npm test');
  screen.press('esc');
  expect([screen.view().overlay, screen.view().editor.text, screen.effects]).toEqual([undefined, '', []]);
});

test('enter runs the command of a row; a choice closes the panel', () => {
  const screen = stageWith(MODELS);
  screen.press('up', 'enter');
  expect(screen.effects).toEqual([{ type: 'command', line: 'model opus-5' }]);
  expect(screen.view().overlay).toBeUndefined();
});

test.each(someOf([30, 240, 500, 660], 2))(
  'the Enter that opened a list has no effect in it when repeated after %i ms',
  (ms) => {
    const list = { kind: 'picker', title: 'Go back', choices: [], query: '', selected: 0 } as const;
    const choices = [{ id: 'a', label: 'first', detail: '' }];
    const picker: Overlay = { ...list, purpose: 'rewind', choices };
    for (const overlay of [createPanelState(MODELS, undefined), picker]) {
      const screen = openStage({ cols: 80, rows: 24 });
      screen.type('/x');
      screen.press('enter');
      screen.change((view) => ({ ...view, overlay }));
      const before = screen.effects.length;
      screen.wait(ms);
      screen.press('enter');
      screen.wait(30);
      screen.press('enter');
      expect(screen.effects.slice(before)).toEqual([]);
      screen.wait(700);
      screen.press('enter');
      expect(screen.effects.slice(before)).toHaveLength(1);
      // Whoever moves or searches has seen it.
      screen.change((view) => ({ ...view, overlay }));
      screen.press('down', 'enter');
      expect(screen.effects.slice(before)).toHaveLength(2);
      screen.close();
    }
  },
);

longTest('a held key does not trigger the next action of the row', () => {
  const screen = stageWith(SWITCHES);
  screen.press('down', 'enter');
  for (let times = 0; times < 20; times += 1) {
    screen.wait(30);
    screen.press('enter');
  }
  expect(screen.effects).toEqual([{ type: 'panel', line: 'plugin off one' }]);
  screen.wait(400);
  screen.press('enter');
  expect(screen.effects).toHaveLength(2);
});

test('left and right cycle through the values', () => {
  const screen = stageWith(MODELS);
  screen.press('right', 'left', 'left', 'left');
  expect(screen.effects).toEqual([
    { type: 'panel', line: 'effort high' },
    { type: 'panel', line: 'effort low' },
    { type: 'panel', line: 'effort off' },
    { type: 'panel', line: 'effort high' },
  ]);
});

test('an irreversible action needs a second press', () => {
  const screen = stageWith();
  screen.press('ctrl+d', 'x');
  expect([screen.effects, panelOf(screen).mode, panelOf(screen).query]).toEqual([[], { type: 'choosing' }, '']);
  screen.press('ctrl+d', 'ctrl+d');
  expect(screen.effects).toEqual([{ type: 'panel', line: 'permissions forget user Bash(rm:*)' }]);
});

test('a value is edited in place with the keys of a draft; ESC cancels', () => {
  const screen = stageWith();
  screen.press('ctrl+a');
  screen.type('Bash(ls)');
  screen.press('ctrl+left', 'home');
  screen.paste('user\n');
  screen.press('ctrl+w', 'end', 'enter');
  expect(screen.effects).toEqual([{ type: 'panel', line: 'permissions allow Bash(ls)' }]);
  screen.press('ctrl+t');
  screen.type('rm -rf /');
  screen.press('esc');
  expect([panelOf(screen).mode.type, screen.effects.length]).toEqual(['choosing', 1]);
  screen.press('esc');
  expect(screen.view().overlay).toBeUndefined();
});

test('a waiting question receives no key of a panel, nor those right after it', () => {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.emit(begins(), starts('c1', 'Bash', 'npm test'), permission('c1', 'Bash', {}));
  screen.wait(500);
  screen.change((view) => ({ ...view, overlay: createPanelState(RULES, undefined) }));
  screen.wait(2000);
  screen.type('y');
  screen.press('esc', 'y');
  expect(screen.effects).toEqual([]);
});

test('no typed key runs an action that the panel does not show, and the draft is unchanged', () => {
  const lines = [...RULES.rows.flatMap(({ actions }) => actions), ...RULES.actions].map(({ command }) => command);
  const keys = ['a', 'y', ' ', '/', 'up', 'down', 'left', 'right', 'enter', 'ctrl+d', 'ctrl+a', 'ctrl+t', 'tab'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...keys), { maxLength: 30 }), (pressed) => {
      const screen = stageWith();
      screen.press(...pressed);
      const ran = screen.effects.map((effect) => (effect.type === 'panel' ? effect.line : effect.type));
      expect(ran.filter((line) => !lines.some((known) => line.startsWith(known)))).toEqual([]);
      expect(screen.view().editor.text).toBe('');
      screen.close();
      screen.dispose();
    }),
    runs(60),
  );
});
