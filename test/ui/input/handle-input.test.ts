import { describe, expect, test } from 'vitest';
import type { ModelFailure } from '../../../src/contracts/model.ts';
import { needsHighlighter } from '../../../src/ui/app-state/needs-highlighter.ts';
import type { ResumableSessionList } from '../../../src/ui/app-state/overlay.ts';
import type { UiEffect } from '../../../src/ui/input/input-result.ts';
import { showMenuChoices } from '../../../src/ui/widgets/composer/draft-actions.ts';
import { longTest } from '../../support/long-test.ts';
import { someOf } from '../../support/runs.ts';
import { asked, begins, ends, fails, over, queued, reports, starts } from '../widgets/screen/events.ts';
import { openStage, type StageScreen } from '../widgets/screen/stage-screen.ts';

function stage(): StageScreen {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.wait(1000);
  return screen;
}

test('a folded paste can be viewed where the caret is', () => {
  const screen = stage();
  const pasted = 'a line\n'.repeat(20);
  screen.paste(pasted);
  screen.press('ctrl+x');
  screen.type('p');
  expect(screen.effects).toEqual([{ type: 'view_paste', text: pasted }]);
  expect(screen.view().editor.text).toHaveLength(2);
});

test('a message is added to the history, unless it starts with a blank', () => {
  const screen = stage();
  screen.type(' between us');
  screen.press('enter');
  expect(screen.effects.map(({ type }) => type)).not.toContain('remember');
  screen.type('for all');
  screen.press('enter');
  expect(screen.effects).toContainEqual<UiEffect>({ type: 'remember', text: 'for all' });
});

test.each([
  [undefined, ['acceptEdits', 'plan', 'default']],
  [true, ['acceptEdits', 'plan', 'auto', 'default']],
] as const)('a key goes through the modes, auto among them where its person switched that on', (hasAutoMode, modes) => {
  const screen = stage();
  screen.change((view) => ({ ...view, facts: { ...view.facts, ...(hasAutoMode && { hasAutoMode }) } }));
  for (const mode of modes) {
    screen.press('shift+tab');
    expect(screen.effects.at(-1)).toEqual({ type: 'mode', mode });
    screen.change((view) => ({ ...view, facts: { ...view.facts, mode } }));
  }
});

describe('ESC', () => {
  test('leaves pinned messages in the queue', () => {
    const screen = stage();
    screen.emit(begins(), queued('q1', 'next', 'never touch vendor', { pinned: true }));
    screen.press('esc');
    expect(screen.effects).toEqual([{ type: 'abort' }]);
    expect(screen.view().editor.text).toBe('');
  });

  test('stops a run in one press, and queued messages return before the draft', () => {
    const screen = stage();
    screen.emit(begins(), asked('go'), queued('q1', 'next', 'first'), queued('q2', 'after', 'second'));
    screen.type('draft');
    screen.press('esc');
    expect(screen.effects).toEqual([{ type: 'unqueue', id: 'q1' }, { type: 'unqueue', id: 'q2' }, { type: 'abort' }]);
    expect(screen.view().editor.text).toBe('first\n\nsecond\n\ndraft');
  });

  test('pressed again soon, kills what ignores the abort; later it does not', () => {
    const screen = stage();
    screen.emit(begins(), asked('go'));
    const pressed = () => {
      screen.press('esc');
      return screen.effects.splice(0).map(({ type }) => type);
    };
    expect(pressed()).toEqual(['abort']);
    expect(pressed()).toContain('kill_stopping');
    screen.emit({ type: 'agent_end', terminal: { reason: 'aborted_tools' }, durationMs: 1 });
    screen.type('a draft');
    expect(pressed()).toEqual(['kill_stopping']);
    screen.wait(4100);
    expect(pressed()).toEqual([]);
  });

  longTest('closes a menu before it stops anything', () => {
    const screen = stage();
    screen.emit(begins());
    screen.type('/co');
    screen.press('esc');
    expect([screen.view().overlay, screen.effects]).toEqual([undefined, []]);
  });

  test('keeps a draft when idle, and twice on an empty one lists earlier messages', () => {
    const screen = stage();
    screen.type('x');
    screen.press('esc', 'esc');
    expect([screen.view().editor.text, screen.effects]).toEqual(['x', []]);
    screen.press('backspace', 'esc', 'esc');
    expect(screen.effects).toEqual([{ type: 'command', line: 'rewind' }]);
  });

  longTest('with a key right after it is both', () => {
    const screen = stage();
    screen.press('?');
    screen.type('\x1b!');
    expect([screen.view().overlay, screen.view().editor.text]).toEqual([undefined, '!']);
  });
});

describe('enter', () => {
  test('on an empty draft continues after a stop, once', () => {
    const screen = stage();
    screen.emit(begins(), over('aborted_streaming'));
    screen.press('enter', 'enter');
    expect(screen.effects).toEqual<readonly UiEffect[]>([{ type: 'continue', text: '' }]);
  });

  test('on a failed message retries without sending it twice', () => {
    const screen = stage();
    screen.emit(begins(), asked('my words'), over('api_error', { kind: 'network', message: 'ENOTFOUND' }));
    screen.press('enter');
    expect(screen.effects).toEqual<readonly UiEffect[]>([{ type: 'continue', text: 'my words' }]);
    screen.emit(begins(), over('api_error', { kind: 'network', message: 'ENOTFOUND' }));
    screen.type('!');
    screen.press('enter');
    expect(screen.effects.map(({ type }) => type)).toEqual(['continue', 'remember', 'prompt_instead']);
  });

  test('sends when idle, steers during a run, and queues with alt', () => {
    const screen = stage();
    screen.type('one');
    screen.press('enter');
    screen.emit(begins());
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

longTest('typing between two ctrl+c keeps the program open', () => {
  for (const between of [['x'], ['x', 'backspace'], ['up'], ['shift+tab'], ['x', 'ctrl+c']]) {
    const screen = stage();
    screen.press('ctrl+c', ...between);
    expect(screen.view().hint?.text, between.join()).not.toBe('ctrl+c again to exit');
    screen.press('ctrl+c');
    expect(screen.effects, between.join()).not.toContainEqual({ type: 'leave' });
    screen.close();
  }
});

test.each(someOf(['exit', 'quit', ':q']))(
  'the word %j alone exits; in a sentence, or during a run, it is sent',
  (word) => {
    const screen = stage();
    screen.type(word);
    screen.press('enter');
    expect(screen.effects).toEqual([{ type: 'leave' }]);
    screen.type(`${word} now`);
    screen.press('enter');
    screen.emit(begins());
    screen.type(word);
    screen.press('enter');
    expect(screen.effects.map(({ type }) => type)).toEqual(['leave', 'remember', 'prompt', 'remember', 'steer']);
  },
);

test('ctrl+s reports what it stashed and what it restored', () => {
  const screen = stage();
  const hint = () => screen.view().hint?.text;
  screen.press('ctrl+s');
  expect(hint()).toBe('nothing is stashed');
  screen.paste('first words\nand more of them, so many that they are cut');
  screen.press('ctrl+s');
  expect(hint()).toBe('stashed: first words and more of…   ctrl+s on an empty draft restores it');
  screen.type('other');
  screen.press('ctrl+s', 'ctrl+s');
  expect([hint(), screen.view().editor.text]).toEqual(['restored, 1 more stashed', 'other']);
});

test('ctrl+c clears a draft, asks for a second press, then exits', () => {
  const screen = stage();
  screen.type('words');
  screen.press('ctrl+c');
  expect(screen.view().editor.text).toBe('');
  screen.press('ctrl+c');
  expect(screen.view().hint?.text).toBe('ctrl+c again to exit');
  screen.press('ctrl+c');
  expect(screen.effects).toEqual([{ type: 'leave' }]);
  screen.press('ctrl+_');
  expect(screen.view().editor.text).toBe('words');
});

test('during a retry countdown r retries at once, and with a draft it is a letter', () => {
  const screen = stage();
  screen.emit(begins(), fails(2, 9000, { kind: 'overloaded', message: 'Overloaded' }));
  screen.wait(500);
  screen.press('r');
  expect(screen.effects).toEqual([{ type: 'retry_now' }]);
  screen.type('a');
  screen.wait(500);
  screen.press('r');
  expect(screen.view().editor.text).toBe('ar');
});

describe('menus', () => {
  test('of commands run the only match, complete with tab, and keep an ambiguous word', () => {
    const screen = stage();
    screen.type('/cos');
    screen.press('enter');
    expect(screen.effects.at(-1)).toEqual({ type: 'command', line: 'cost' });
    screen.type('/comp');
    screen.press('tab');
    expect(screen.view().editor.text).toBe('/compact ');
  });

  test('of sessions switch with tab: this folder, all folders, this branch if there is one', async () => {
    const screen = stage();
    const overlay: ResumableSessionList = {
      kind: 'sessions',
      scope: 'folder',
      choices: [],
      messageMatches: [],
      query: '',
      selected: 0,
      mode: { type: 'choosing' },
    };
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

  longTest('of themes show code, so its colors are loaded', () => {
    const screen = stage();
    expect(needsHighlighter(screen.view())).toBe(false);
    const overlay = { kind: 'picker', purpose: 'theme', title: 'Theme', choices: [], query: '', selected: 0 } as const;
    screen.change((view) => ({ ...view, overlay }));
    expect(needsHighlighter(screen.view())).toBe(true);
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

  test('of arguments open where completions exist; enter sends the line unless one was selected', () => {
    const screen = stage();
    screen.type('/model so');
    expect(screen.effects).toEqual([]);
    screen.press('ctrl+u');
    screen.type('/deploy to st');
    expect(screen.effects.at(-1)).toEqual({ type: 'find_arguments', line: 'deploy to st' });
    screen.change((view) => showMenuChoices(view, 'argument', 'deploy to s', ['late']));
    screen.change((view) => showMenuChoices(view, 'argument', 'deploy to st', ['staging', 'store']));
    screen.press('down', 'down', 'enter');
    expect(screen.view().editor.text).toBe('/deploy to store ');
    screen.type('x');
    screen.change((view) => showMenuChoices(view, 'argument', 'deploy to store x', ['xx']));
    screen.press('enter');
    expect(screen.effects.at(-1)).toEqual({ type: 'command', line: 'deploy to store x' });
  });
});

test('a history search narrows and widens with the query', () => {
  const screen = stage();
  screen.change((view) => ({
    ...view,
    editor: { ...view.editor, history: { ...view.editor.history, entries: ['fix the lexer', 'write it'] } },
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
    screen.emit(begins(), over('api_error', limit));
    screen.wait(1000);
    return screen;
  }

  test('w waits for the reset with a countdown, enter tries at once', async () => {
    const screen = limited();
    await screen.waitForText(/Press w to wait for the reset/);
    screen.press('w');
    expect(screen.effects).toEqual([{ type: 'wait_for_limit' }]);
    screen.emit({ type: 'status', status: 'requesting' }, fails(1, 7_200_000, limit));
    screen.wait(3000);
    await screen.waitForText(/in (2h00m|1h59m)/);
    const other = limited();
    other.press('enter');
    expect(other.effects).toEqual<readonly UiEffect[]>([{ type: 'continue', text: '' }]);
  });

  longTest('w is a letter in a draft, and during a run', () => {
    const screen = limited();
    screen.type('now');
    expect(screen.effects).toEqual([]);
    expect(screen.view().editor.text).toBe('now');
    const other = limited();
    other.emit(begins());
    other.press('w');
    expect(other.view().editor.text).toBe('w');
  });
});

test('ctrl+o follows the running sub-agent, lists several, and shows the transcript when there is none', () => {
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
  screen.emit(begins(), asked('go'));
  expect(looked()).toEqual([{ type: 'transcript' }]);
  screen.emit(...works('a'));
  expect(looked()).toEqual([{ type: 'watch', agentId: 'agent_a' }]);
  screen.emit(...works('b'));
  expect(looked()).toEqual([{ type: 'command', line: 'agents' }]);
  screen.emit(ends('a', 'Task'), ends('b', 'Task'), over());
  expect(looked()).toEqual([{ type: 'transcript' }]);
  screen.close();
  screen.dispose();
});

longTest('text typed over the key help closes it and goes to the draft; closing keys only close', () => {
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

longTest('a hint vanishes when another key changes the draft, and not before', () => {
  const screen = stage();
  screen.press('esc');
  screen.wait(100);
  expect(screen.view().hint?.text).toBe('esc again to rewind');
  screen.press('left');
  expect(screen.view().hint?.text).toBe('esc again to rewind');
  screen.type('a');
  expect(screen.view().hint).toBeUndefined();
});
