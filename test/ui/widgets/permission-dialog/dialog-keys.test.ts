import { describe, expect, test } from 'vitest';
import { findNextTimedChangeMs } from '../../../../src/ui/input/handle-input.ts';
import { longTest } from '../../../support/long-test.ts';
import { someOf } from '../../../support/runs.ts';
import { asks, begins, permission, queued, starts } from '../screen/events.ts';
import { openStage, START_MS, type StageScreen } from '../screen/stage-screen.ts';

function stage(): StageScreen {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.wait(1000);
  return screen;
}

/** A command is asked about; the keys have been quiet for so long. */
function askedFor(quietMs: number, command = 'npm run build'): StageScreen {
  const screen = stage();
  screen.emit(
    begins(),
    starts('c1', 'Bash', command),
    permission(
      'c1',
      'Bash',
      { kind: 'shell', command, input: { command, timeout: 5 } },
      {
        suggestions: [{ rule: 'Bash(npm run build:*)', covers: 'it' }],
      },
    ),
  );
  screen.wait(quietMs);
  return screen;
}

const answer = (screen: StageScreen) => screen.effects.filter(({ type }) => type.startsWith('answer'));
const shown = (screen: StageScreen) =>
  screen
    .screen()
    .join(' ')
    .replaceAll(/[\s▌]+/g, ' ');

describe('a question accepts', () => {
  test('a letter when no key was pressed before', () => {
    const screen = askedFor(500);
    screen.press('y');
    expect(answer(screen)).toEqual([{ type: 'answer_permission', id: 'ask-c1', answer: { behavior: 'allow' } }]);
  });

  test('no key in the first moment', () => {
    const screen = askedFor(0);
    screen.wait(100);
    screen.press('y');
    expect([answer(screen), screen.view().editor.text]).toEqual([[], '']);
  });

  test('no key typed before it appeared, however typing continues', () => {
    const screen = stage();
    screen.type('fix the t');
    screen.emit(begins(), starts('c1', 'Bash', 'x'), permission('c1', 'Bash', { kind: 'shell', command: 'x' }));
    for (const letter of 'yan') screen.type(letter);
    expect(answer(screen)).toEqual([]);
    expect(screen.view().editor.text).toBe('fix the tyan');
    screen.wait(600);
    screen.press('y');
    expect(answer(screen)).toEqual([]);
  });

  longTest('a letter also when the first moment passed unnoticed', () => {
    const screen = askedFor(0);
    const room = { height: 24, layOut: () => [] };
    const nowMs = START_MS + 60_000;
    expect(findNextTimedChangeMs(screen.view(), { nowMs, quietMs: 400, commands: [], viewer: room })).toBe(nowMs + 1);
  });

  test('the answer always, and says what it excludes', async () => {
    const request = permission(
      'c1',
      'Bash',
      { kind: 'shell', command: 'rm -r x && npm run build' },
      {
        suggestions: [{ rule: 'Bash(npm run build:*)', covers: 'it', uncovered: ['rm'] }],
      },
    );
    const screen = stage();
    screen.emit(begins(), starts('c1', 'Bash', 'rm -r x && npm run build'), request);
    screen.wait(600);
    await screen.settled();
    expect(screen.screen().join('\n')).toMatch(
      /2 {2}a {2}Yes, and don't ask again for {2}npm run build \* {2}in this project\s+(?:▌ +)?\(rm still/,
    );
  });

  test('one answer for all reads and edits in the list behind ctrl+y; others keep asking', () => {
    const screen = stage();
    const wants = (id: string, kind: 'read' | 'edit' | 'shell', more = {}) =>
      screen.emit(starts(id, 'Tool', id), permission(id, 'Tool', { kind }, { title: id, ...more }));
    screen.emit(begins());
    wants('c1', 'edit');
    wants('c2', 'shell');
    wants('c3', 'read');
    wants('c4', 'edit', { danger: 'breaker' });
    screen.wait(600);
    screen.press('A');
    expect(answer(screen)).toEqual([]);
    screen.press('ctrl+u');
    screen.wait(600);
    screen.press('ctrl+y', 'ctrl+y', 'A');
    // A key in the first moment was meant for something else.
    expect(answer(screen)).toEqual([]);
    screen.press('ctrl+u', 'ctrl+y');
    wants('c5', 'edit');
    screen.wait(600);
    screen.press('A');
    expect(answer(screen)).toEqual(
      ['ask-c1', 'ask-c3'].map((id) => ({ type: 'answer_permission', id, answer: { behavior: 'allow' } })),
    );
  });

  test('e to change an edit first', () => {
    const screen = stage();
    const asked = permission('c1', 'Edit', { kind: 'edit', input: { file_path: 'a' } });
    screen.emit(begins(), starts('c1', 'Edit', 'Edit a'), asked);
    screen.wait(600);
    screen.press('e');
    expect(screen.effects).toMatchObject([{ type: 'edit_proposal', request: { id: 'ask-c1' } }]);
  });

  test('no Enter right after a paste: that sends it', () => {
    const screen = askedFor(500);
    screen.press('y');
    screen.press('enter');
    screen.paste('and now the tests');
    screen.press('enter');
    expect(screen.effects.filter(({ type }) => type === 'steer')).toMatchObject([
      { parts: [{ text: 'and now the tests' }] },
    ]);
  });

  longTest('a letter after a draft was emptied and a pause', () => {
    const screen = askedFor(500);
    screen.type('q');
    screen.press('ctrl+u', 'n');
    expect(answer(screen)).toEqual([]);
    screen.press('ctrl+u');
    screen.wait(500);
    screen.press('y');
    expect(answer(screen)).toEqual([{ type: 'answer_permission', id: 'ask-c1', answer: { behavior: 'allow' } }]);
  });

  longTest('the keys after ctrl+y, whatever the draft', () => {
    const screen = stage();
    screen.type('a draft');
    screen.emit(begins(), starts('c1', 'Bash', 'x'), permission('c1', 'Bash', { kind: 'shell', command: 'x' }));
    screen.press('ctrl+y', 'y');
    expect([answer(screen), screen.view().editor.text]).toEqual([[], 'a draft']);
    screen.wait(350);
    screen.press('y');
    expect(answer(screen)).toEqual([{ type: 'answer_permission', id: 'ask-c1', answer: { behavior: 'allow' } }]);
    expect(screen.view().editor.text).toBe('a draft');
  });

  test('no paste and no space; pasted text is a draft', () => {
    const screen = askedFor(500);
    screen.press('space');
    screen.paste('y');
    expect([answer(screen), screen.view().editor.text]).toEqual([[], 'y']);
  });

  test('Enter as the selected option, which is to allow once', () => {
    const screen = askedFor(500);
    screen.press('enter');
    expect(answer(screen)).toEqual([{ type: 'answer_permission', id: 'ask-c1', answer: { behavior: 'allow' } }]);
  });

  test('a digit as the option of that position, and arrows select others', () => {
    const always = [
      { answer: { behavior: 'allow', remember: { rules: ['Bash(npm run build:*)'], destination: 'local' } } },
    ];
    const screen = askedFor(500);
    screen.press('2');
    expect(answer(screen)).toMatchObject(always);
    const other = askedFor(500);
    other.press('down', 'enter');
    expect(answer(other)).toMatchObject(always);
  });

  test('no Enter where the call could do harm, before an option was selected', () => {
    const screen = stage();
    const risks = [{ kind: 'deletes', text: 'deletes build/' }] as const;
    screen.emit(begins(), permission('c1', 'Bash', { kind: 'shell', command: 'rm -rf build' }, { risks }));
    screen.wait(600);
    screen.press('enter');
    expect(answer(screen)).toEqual([]);
    expect(screen.view().hint?.text).toContain('nothing is selected: press a letter');
    screen.press('down');
    expect(screen.view().hint).toBeUndefined();
    screen.press('enter');
    expect(answer(screen)).toHaveLength(1);
  });

  test('no yes to unseen content: y unfolds it, and then answers', () => {
    const command = Array.from({ length: 60 }, (_, at) => `echo ${at}`).join('\n');
    for (const key of ['y', '1', 'enter', 'a']) {
      const screen = askedFor(500, command);
      screen.press(key);
      expect(screen.effects).toMatchObject([{ type: 'view_request', request: { id: 'ask-c1' } }]);
      screen.look();
      screen.press('y');
      expect(answer(screen)).toEqual([]);
      screen.wait(300);
      screen.press('y');
      expect(answer(screen)).toEqual([{ type: 'answer_permission', id: 'ask-c1', answer: { behavior: 'allow' } }]);
    }
  });

  test('a yes after the script that the command runs was read', async () => {
    const screen = stage();
    const scripts = [{ path: '/somewhere/b.sh', lines: ['#!/bin/sh', 'touch \u202eevil'], moreLines: 3 }];
    screen.emit(
      begins(),
      starts('c1', 'Bash', 'sh b.sh'),
      permission('c1', 'Bash', { kind: 'shell', command: 'sh b.sh' }, { scripts }),
    );
    screen.wait(600);
    screen.press('v');
    expect(screen.effects).toMatchObject([{ type: 'view_request' }]);
    screen.look();
    await screen.waitForText(/b\.sh begins with:/);
    await screen.waitForText(/#!\/bin\/sh\s+touch <U\+202E>evil\s+… 3 more lines/);
    screen.wait(300);
    screen.press('y');
    expect(answer(screen)).toHaveLength(1);
  });

  test('no repeated key that was meant for the previous question', () => {
    const screen = askedFor(500);
    screen.emit(permission('c2', 'Bash', { kind: 'shell', command: 'x' }));
    screen.press('y');
    screen.emit({ type: 'permission_answer', requestId: 'ask-c1', answer: { behavior: 'allow' }, by: 'person' });
    for (let pressed = 0; pressed < 9; pressed += 1) {
      screen.wait(200);
      screen.press('y');
    }
    screen.emit({ type: 'permission_answer', requestId: 'ask-c2', answer: { behavior: 'allow' }, by: 'host' });
    screen.press('y');
    expect([answer(screen).length, screen.view().editor.text]).toEqual([1, '']);
  });

  test('ESC as no, and abort', () => {
    const screen = askedFor(500);
    screen.press('esc');
    expect(screen.effects).toEqual([
      { type: 'answer_permission', id: 'ask-c1', answer: { behavior: 'deny', interrupt: true } },
      { type: 'abort' },
    ]);
  });

  longTest('no key that focused the window', () => {
    const screen = askedFor(500);
    screen.send('\x1b[O');
    screen.send('\x1b[I');
    screen.press('y');
    expect([answer(screen), screen.view().editor.text]).toEqual([[], '']);
    screen.wait(310);
    screen.press('y');
    expect(answer(screen)).toHaveLength(1);
  });

  longTest('Ctrl+C to clear a draft first, then as no', () => {
    const screen = stage();
    screen.type('a draft');
    screen.emit(begins(), permission('c1', 'Bash', { kind: 'shell', command: 'x' }));
    screen.wait(600);
    screen.press('ctrl+c');
    expect([screen.effects, screen.view().editor.text]).toEqual([[], '']);
    screen.wait(600);
    screen.press('ctrl+c');
    expect(answer(screen)).toMatchObject([{ answer: { behavior: 'deny', interrupt: true } }]);
  });
});

describe('a question uses the composer', () => {
  test('for a reason, and restores the draft afterwards', () => {
    const screen = stage();
    screen.type('my draft');
    screen.emit(begins(), starts('c1', 'Bash', 'x'), permission('c1', 'Bash', { kind: 'shell', command: 'x' }));
    screen.press('ctrl+y');
    screen.wait(350);
    screen.press('n');
    expect(screen.view().editor.text).toBe('');
    screen.type('use make');
    screen.press('enter');
    expect(answer(screen)).toMatchObject([{ answer: { behavior: 'deny', message: 'use make' } }]);
    expect(screen.view().editor.text).toBe('my draft');
  });

  test('for another command, with the rest of its input unchanged', () => {
    const screen = askedFor(500);
    screen.press('e');
    screen.type(' --now');
    screen.press('enter');
    expect(answer(screen)).toMatchObject([
      { answer: { behavior: 'allow', updatedInput: { command: 'npm run build --now', timeout: 5 } } },
    ]);
  });

  longTest('for a plan that the user changes', () => {
    const screen = stage();
    screen.emit(begins(), asks('p', { kind: 'plan', plan: 'Do it.' }));
    screen.wait(500);
    screen.press('e');
    screen.type(' Twice.');
    screen.press('enter');
    expect(answer(screen)).toMatchObject([{ answer: { kind: 'plan', verdict: 'accept', plan: 'Do it. Twice.' } }]);
  });
});

test('a command without a wider rule is suggested verbatim, with the reason and the allowed duration', async () => {
  const request = (keep: 'session' | 'always') => {
    const screen = stage();
    const exact = { rule: 'Bash(node x.js)', keep };
    const facts = { kind: 'shell', command: 'node x.js', input: { command: 'node x.js' } } as const;
    screen.emit(
      begins(),
      starts('c1', 'Bash', 'node x.js'),
      permission('c1', 'Bash', facts, { exact, narrow: 'node can run anything' }),
    );
    screen.wait(500);
    return screen;
  };
  const [always, session] = [request('always'), request('session')];
  await Promise.all([always.settled(), session.settled()]);
  expect(shown(always)).toContain(
    "2 a Yes, and don't ask again for this exact command in this project (others still ask: node can run anything)",
  );
  expect(shown(session)).toContain('Not remembered beyond this session: node can run anything.');
  expect(shown(session)).toContain('1 y Yes 3 n No, and say what to do instead');
  always.press('a');
  session.press('a');
  session.wait(500);
  session.press('s');
  const remembered = (destination: string) => [
    {
      type: 'answer_permission',
      id: 'ask-c1',
      answer: { behavior: 'allow', remember: { rules: ['Bash(node x.js)'], destination } },
    },
  ];
  expect([answer(always), answer(session)]).toEqual([remembered('local'), remembered('session')]);
});

test('questions in several parts are answered one by one, and can be revisited', () => {
  const screen = stage();
  const options = [{ label: 'One' }, { label: 'Two' }];
  const questions = [
    { question: 'First?', multiSelect: false, options },
    { question: 'Second?', multiSelect: true, options },
  ];
  screen.emit(begins(), asks('q', { kind: 'questions', questions }));
  screen.wait(500);
  for (const key of ['1', 'b', '2', '1', '2', 'enter']) {
    screen.press(key);
    screen.wait(500);
  }
  expect(answer(screen)).toEqual([
    { type: 'answer_question', id: 'ask-q', answer: { kind: 'questions', answers: ['Two', 'One, Two'] } },
  ]);
});

describe('a question that closes by itself', () => {
  const closes = (screen: StageScreen) =>
    screen.emit({ type: 'permission_answer', requestId: 'ask-c1', answer: { behavior: 'allow' }, by: 'host' });

  test('discards the key meant for it: it reaches neither the draft nor the next question', () => {
    const alone = askedFor(600);
    closes(alone);
    alone.wait(200);
    alone.press('y');
    alone.wait(100);
    alone.type('z');
    expect([alone.effects, alone.view().editor.text]).toEqual([[], 'z']);
    const two = askedFor(600);
    two.emit(starts('c2', 'Bash', 'rm x'), permission('c2', 'Bash', { kind: 'shell', command: 'rm x' }));
    closes(two);
    two.wait(600);
    two.press('y');
    expect([two.effects, two.view().editor.text]).toEqual([[], '']);
    two.wait(500);
    two.press('y');
    expect(answer(two)).toMatchObject([{ id: 'ask-c2' }]);
  });

  longTest('discards text typed for it, and keeps the draft', () => {
    const screen = askedFor(600);
    screen.press('n');
    screen.type('use pnpm');
    closes(screen);
    const { editor, hint } = screen.view();
    expect([editor.text, editor.stash.map(({ text }) => text)]).toEqual(['', ['use pnpm']]);
    expect(hint?.text).toMatch(/stashed/);
  });
});

test('an unfinished reason is restored when its option is selected again', () => {
  const screen = askedFor(600);
  screen.press('n');
  screen.type('use pnpm');
  screen.press('esc');
  expect(screen.view().editor.text).toBe('');
  screen.press('n');
  expect(screen.view().editor.text).toBe('use pnpm');
  screen.press('enter');
  expect(answer(screen)).toMatchObject([{ answer: { behavior: 'deny', message: 'use pnpm' } }]);
});

longTest('no key answers during a resize, nor right after it', () => {
  const screen = askedFor(600);
  screen.resize({ cols: 60, rows: 24 });
  screen.press('y');
  screen.wait(250);
  screen.press('y');
  expect([answer(screen), screen.view().editor.text]).toEqual([[], '']);
  screen.wait(300);
  screen.press('y');
  expect(answer(screen)).toHaveLength(1);
});

longTest('text that arrives at once goes to the draft, a repeated key goes nowhere', () => {
  const words = askedFor(600);
  words.send('yes please');
  expect([answer(words), words.view().editor.text]).toEqual([[], 'yes please']);
  const held = askedFor(600);
  for (const bytes of ['yyy', '\x1b[121;1:2u']) held.send(bytes);
  expect([answer(held), held.view().editor.text]).toEqual([[], '']);
});

longTest('text typed right after ESC is in the draft, and a second ESC is received', () => {
  const screen = askedFor(600);
  screen.press('esc');
  screen.emit({ type: 'permission_answer', requestId: 'ask-c1', answer: { behavior: 'deny' }, by: 'person' });
  screen.press('n');
  screen.press('o');
  expect(screen.view().editor.text).toBe('no');
});

test.each(someOf(['esc', 'ctrl+c']))('%s at a question gives queued messages back to the draft', (key) => {
  const screen = askedFor(0);
  screen.emit(queued('q1', 'next', 'first'), queued('q2', 'after', 'second'));
  screen.wait(600);
  screen.press(key);
  screen.wait(100);
  expect(screen.view().editor.text).toBe('first\n\nsecond');
  expect(screen.effects.map(({ type }) => type)).toEqual(['answer_permission', 'unqueue', 'unqueue', 'abort']);
});
