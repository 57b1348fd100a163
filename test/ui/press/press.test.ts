import { describe, expect, test } from 'vitest';
import type { ModelFailure } from '../../../src/contracts/model.ts';
import { choicesFound } from '../../../src/ui/press/press-composer.ts';
import { holdsCode } from '../../../src/ui/view/holds-code.ts';
import { asked, begins, ends, fails, over, queued, reports, starts } from '../components/events.ts';
import { openStage, type StageScreen } from '../components/stage-screen.ts';

function stage(): StageScreen {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.wait(1000);
  return screen;
}

test('a folded paste can be read where the caret is', () => {
  const screen = stage();
  const pasted = 'a line\n'.repeat(20);
  screen.paste(pasted);
  screen.press('ctrl+x');
  screen.type('p');
  expect(screen.effects).toEqual([{ type: 'view_paste', text: pasted }]);
  expect(screen.view().editor.text).toHaveLength(2);
});

test('a message is kept for later, unless it begins with a blank', () => {
  const screen = stage();
  screen.type(' between us');
  screen.press('enter');
  expect(screen.effects.map(({ type }) => type)).not.toContain('remember');
  screen.type('for all');
  screen.press('enter');
  expect(screen.effects).toContainEqual({ type: 'remember', words: 'for all' });
});

test.each([
  [undefined, ['acceptEdits', 'plan', 'default']],
  [true, ['acceptEdits', 'plan', 'auto', 'default']],
] as const)('a key goes through the modes, auto among them where its person switched that on', (offersAuto, modes) => {
  const screen = stage();
  screen.change((view) => ({ ...view, facts: { ...view.facts, ...(offersAuto && { offersAuto }) } }));
  for (const mode of modes) {
    screen.press('shift+tab');
    expect(screen.effects.at(-1)).toEqual({ type: 'mode', mode });
    screen.change((view) => ({ ...view, facts: { ...view.facts, mode } }));
  }
});

describe('ESC', () => {
  test('leaves pinned words where they wait', () => {
    const screen = stage();
    screen.tell(begins(), queued('q1', 'next', 'never touch vendor', { pinned: true }));
    screen.press('esc');
    expect(screen.effects).toEqual([{ type: 'abort' }]);
    expect(screen.view().editor.text).toBe('');
  });

  test('stops a run in one press, and what waited comes back before the draft', () => {
    const screen = stage();
    screen.tell(begins(), asked('go'), queued('q1', 'next', 'first'), queued('q2', 'after', 'second'));
    screen.type('draft');
    screen.press('esc');
    expect(screen.effects).toEqual([{ type: 'unqueue', id: 'q1' }, { type: 'unqueue', id: 'q2' }, { type: 'abort' }]);
    expect(screen.view().editor.text).toBe('first\n\nsecond\n\ndraft');
  });

  test('pressed again soon, kills what does not heed the stop; later it does not', () => {
    const screen = stage();
    screen.tell(begins(), asked('go'));
    const pressed = () => {
      screen.press('esc');
      return screen.effects.splice(0).map(({ type }) => type);
    };
    expect(pressed()).toEqual(['abort']);
    expect(pressed()).toContain('kill_stopping');
    screen.tell({ type: 'agent_end', terminal: { reason: 'aborted_tools' }, durationMs: 1 });
    screen.type('a draft');
    expect(pressed()).toEqual(['kill_stopping']);
    screen.wait(4100);
    expect(pressed()).toEqual([]);
  });

  test('closes a menu before it stops anything', () => {
    const screen = stage();
    screen.tell(begins());
    screen.type('/co');
    screen.press('esc');
    expect([screen.view().overlay, screen.effects]).toEqual([undefined, []]);
  });

  test('leaves a draft alone at rest, and twice on an empty one offers earlier messages', () => {
    const screen = stage();
    screen.type('x');
    screen.press('esc', 'esc');
    expect([screen.view().editor.text, screen.effects]).toEqual(['x', []]);
    screen.press('backspace', 'esc', 'esc');
    expect(screen.effects).toEqual([{ type: 'command', line: 'rewind' }]);
  });

  test('with a key right behind it is both', () => {
    const screen = stage();
    screen.press('?');
    screen.type('\x1b!');
    expect([screen.view().overlay, screen.view().editor.text]).toEqual([undefined, '!']);
  });
});

describe('enter', () => {
  test('on an empty draft goes on after a stop, once', () => {
    const screen = stage();
    screen.tell(begins(), over('aborted_streaming'));
    screen.press('enter', 'enter');
    expect(screen.effects).toEqual([{ type: 'continue', words: '' }]);
  });

  test('on a message that failed tries again, without saying it twice', () => {
    const screen = stage();
    screen.tell(begins(), asked('my words'), over('api_error', { kind: 'network', message: 'ENOTFOUND' }));
    screen.press('enter');
    expect(screen.effects).toEqual([{ type: 'continue', words: 'my words' }]);
    screen.tell(begins(), over('api_error', { kind: 'network', message: 'ENOTFOUND' }));
    screen.type('!');
    screen.press('enter');
    expect(screen.effects.map(({ type }) => type)).toEqual(['continue', 'remember', 'prompt_instead']);
  });

  test('sends at rest, steers while something runs, and waits for the end with alt', () => {
    const screen = stage();
    screen.type('one');
    screen.press('enter');
    screen.tell(begins());
    screen.type('two');
    screen.press('enter');
    screen.type('three');
    screen.press('alt+enter');
    expect(screen.effects.map(({ type }) => type)).toEqual([
      'remember',
      'prompt',
      'remember',
      'steer',
      'remember',
      'follow_up',
    ]);
  });
});

test('whoever types between two ctrl+c stays', () => {
  for (const between of [['x'], ['x', 'backspace'], ['up'], ['shift+tab'], ['x', 'ctrl+c']]) {
    const screen = stage();
    screen.press('ctrl+c', ...between);
    expect(screen.view().hint?.text, between.join()).not.toBe('ctrl-c again to leave');
    screen.press('ctrl+c');
    expect(screen.effects, between.join()).not.toContainEqual({ type: 'leave' });
    screen.close();
  }
});

test.each(['exit', 'quit', ':q'])(
  'the word %j alone leaves; in a sentence, or while something runs, it is said',
  (word) => {
    const screen = stage();
    screen.type(word);
    screen.press('enter');
    expect(screen.effects).toEqual([{ type: 'leave' }]);
    screen.type(`${word} now`);
    screen.press('enter');
    screen.tell(begins());
    screen.type(word);
    screen.press('enter');
    expect(screen.effects.map(({ type }) => type)).toEqual(['leave', 'remember', 'prompt', 'remember', 'steer']);
  },
);

test('ctrl+s says what it put aside, and what it took back', () => {
  const screen = stage();
  const hint = () => screen.view().hint?.text;
  screen.press('ctrl+s');
  expect(hint()).toBe('nothing was put aside');
  screen.paste('first words\nand more of them, so many that they are cut');
  screen.press('ctrl+s');
  expect(hint()).toBe('put aside: first words and more of…   ctrl+s on an empty draft takes it back');
  screen.type('other');
  screen.press('ctrl+s', 'ctrl+s');
  expect([hint(), screen.view().editor.text]).toEqual(['taken back, 1 more put aside', 'other']);
});

test('ctrl+c clears a draft, asks once more, then leaves', () => {
  const screen = stage();
  screen.type('words');
  screen.press('ctrl+c');
  expect(screen.view().editor.text).toBe('');
  screen.press('ctrl+c');
  expect(screen.view().hint?.text).toBe('ctrl-c again to leave');
  screen.press('ctrl+c');
  expect(screen.effects).toEqual([{ type: 'leave' }]);
  screen.press('ctrl+_');
  expect(screen.view().editor.text).toBe('words');
});

test('while a retry counts down r does not wait, and a letter of a draft is a letter', () => {
  const screen = stage();
  screen.tell(begins(), fails(2, 9000, { kind: 'overloaded', message: 'Overloaded' }));
  screen.wait(500);
  screen.press('r');
  expect(screen.effects).toEqual([{ type: 'retry_now' }]);
  screen.type('a');
  screen.wait(500);
  screen.press('r');
  expect(screen.view().editor.text).toBe('ar');
});

describe('menus', () => {
  test('of commands run the only fit, fill with tab, and leave an unclear word alone', () => {
    const screen = stage();
    screen.type('/cos');
    screen.press('enter');
    expect(screen.effects.at(-1)).toEqual({ type: 'command', line: 'cost' });
    screen.type('/comp');
    screen.press('tab');
    expect(screen.view().editor.text).toBe('/compact ');
  });

  test('of sessions go on with tab: this folder, everywhere, this branch where there is one', async () => {
    const screen = stage();
    const list = { kind: 'sessions', scope: 'folder', choices: [], found: [], query: '', selected: 0 } as const;
    const overlay = { ...list, doing: { type: 'choosing' } } as const;
    screen.change((view) => ({ ...view, overlay }));
    screen.press('tab', 'tab');
    await screen.settled();
    expect(screen.screen().join('\n')).toMatch(/this branch .* tab: folder, everywhere, branch/);
    screen.press('tab');
    const scopes = () => screen.effects.splice(0).flatMap((one) => (one.type === 'list_sessions' ? [one.scope] : []));
    expect(scopes()).toEqual(['all', 'branch', 'folder']);
    screen.change((view) => ({ ...view, overlay, facts: { ...view.facts, branch: undefined } }));
    screen.press('tab', 'tab');
    expect(scopes()).toEqual(['all', 'folder']);
  });

  test('of themes show code, so its colours are wanted', () => {
    const screen = stage();
    expect(holdsCode(screen.view())).toBe(false);
    const overlay = { kind: 'picker', purpose: 'theme', title: 'Theme', choices: [], query: '', selected: 0 } as const;
    screen.change((view) => ({ ...view, overlay }));
    expect(holdsCode(screen.view())).toBe(true);
  });

  test('of files follow the word at the caret, and names with spaces are quoted', () => {
    const screen = stage();
    screen.type('see @pa');
    expect(screen.effects.at(-1)).toEqual({ type: 'find_files', query: 'pa' });
    const choices = [{ id: 'a page.md', label: 'a page.md', detail: '' }];
    screen.change((view) =>
      view.overlay?.kind === 'menu' ? { ...view, overlay: { ...view.overlay, choices } } : view,
    );
    screen.press('tab');
    expect(screen.view().editor.text).toBe('see @"a page.md" ');
  });

  test('of arguments open where somebody knows how they go on; enter sends the line unless one was chosen', () => {
    const screen = stage();
    screen.type('/model so');
    expect(screen.effects).toEqual([]);
    screen.press('ctrl+u');
    screen.type('/deploy to st');
    expect(screen.effects.at(-1)).toEqual({ type: 'find_arguments', line: 'deploy to st' });
    screen.change((view) => choicesFound(view, 'argument', 'deploy to s', ['late']));
    screen.change((view) => choicesFound(view, 'argument', 'deploy to st', ['staging', 'store']));
    screen.press('down', 'down', 'enter');
    expect(screen.view().editor.text).toBe('/deploy to store ');
    screen.type('x');
    screen.change((view) => choicesFound(view, 'argument', 'deploy to store x', ['xx']));
    screen.press('enter');
    expect(screen.effects.at(-1)).toEqual({ type: 'command', line: 'deploy to store x' });
  });
});

test('a search through earlier messages grows and shrinks with what is typed', () => {
  const screen = stage();
  screen.change((view) => ({
    ...view,
    editor: { ...view.editor, recall: { ...view.editor.recall, entries: ['fix the lexer', 'write it'] } },
  }));
  screen.press('ctrl+r');
  screen.type('lexx');
  screen.press('backspace', 'enter');
  expect(screen.view().editor.text).toBe('fix the lexer');
});

describe('at a usage limit', () => {
  const limit: ModelFailure = {
    kind: 'rate_limited',
    message: 'The rate limit is reached (429).',
    retryAfterMs: 7_200_000,
  };
  function limited(): StageScreen {
    const screen = stage();
    screen.tell(begins(), over('api_error', limit));
    screen.wait(1000);
    return screen;
  }

  test('w waits for its end with a countdown, enter tries at once', async () => {
    const screen = limited();
    await screen.waitForText(/Press w to wait until then/);
    screen.press('w');
    expect(screen.effects).toEqual([{ type: 'wait_for_limit' }]);
    screen.tell({ type: 'status', status: 'requesting' }, fails(1, 7_200_000, limit));
    screen.wait(3000);
    await screen.waitForText(/in (2h00m|1h59m)/);
    const other = limited();
    other.press('enter');
    expect(other.effects).toEqual([{ type: 'continue', words: '' }]);
  });

  test('w is a letter where somebody writes, and once something else runs', () => {
    const screen = limited();
    screen.type('now');
    expect(screen.effects).toEqual([]);
    expect(screen.view().editor.text).toBe('now');
    const other = limited();
    other.tell(begins());
    other.press('w');
    expect(other.view().editor.text).toBe('w');
  });
});

test('ctrl+o reads along with the sub-agent at work, offers several, and shows what was said when there is none', () => {
  const screen = openStage({ cols: 100, rows: 24 });
  const works = (id: string) => [
    starts(id, 'Task', `Survey ${id}`),
    reports(id, {
      kind: 'agent',
      agentId: `agent_${id}`,
      agentType: 'Explore',
      line: 'Read a.ts',
      calls: 2,
      tokens: 9,
    }),
  ];
  const looked = () => {
    screen.press('ctrl+o');
    return screen.effects.splice(0);
  };
  screen.tell(begins(), asked('go'));
  expect(looked()).toEqual([{ type: 'transcript' }]);
  screen.tell(...works('a'));
  expect(looked()).toEqual([{ type: 'watch', agentId: 'agent_a' }]);
  screen.tell(...works('b'));
  expect(looked()).toEqual([{ type: 'command', line: 'agents' }]);
  screen.tell(ends('a', 'Task'), ends('b', 'Task'), over());
  expect(looked()).toEqual([{ type: 'transcript' }]);
  screen.close();
  screen.dispose();
});

test('a word that is typed over the page of keys closes it and is in the draft; what closes pages only closes', () => {
  for (const [keys, draft] of [
    ['fix', 'fix'],
    ['?', ''],
    ['q', ''],
  ] as const) {
    const screen = openStage({ cols: 80, rows: 24 });
    screen.press('?');
    expect(screen.view().overlay?.kind).toBe('help');
    for (const key of keys) screen.press(key);
    expect([screen.view().overlay, screen.view().editor.text]).toEqual([undefined, draft]);
    screen.close();
  }
});
