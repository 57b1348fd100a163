import { expect, test } from 'vitest';
import { begins, ends, over, permission, queued, reports, starts } from '../widgets/screen/events.ts';
import { openStage, type StageScreen } from '../widgets/screen/stage-screen.ts';

/** What would do something to a terminal, or show as something else. */
const EVIL = '\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u001b[31mred\u009b2J\u0000\u0007\u202egnp.exe\u2066';
const KNOWN_SEQUENCES = /\u001b\[(?:[\d;]*[mABCDGHJKLM]|\?(?:25|1049|2026)[hl])/g;

const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [{ kind: 'add', text: EVIL }] } as const;
const diff = { kind: 'diff', path: `/p/${EVIL}`, created: false, hunks: [hunk], added: 1, removed: 0 } as const;
const edit = { kind: 'edit', writes: [`/p/${EVIL}`], input: { file_path: EVIL } } as const;
const output = { kind: 'output', command: EVIL, output: `${EVIL}\n${EVIL}`, exitCode: 1, hiddenLines: 0 } as const;

const STATES: Readonly<Record<string, (screen: StageScreen) => void>> = {
  'a command that is asked about': (screen) =>
    screen.emit(
      permission('c1', EVIL, { kind: 'shell', command: EVIL }, { title: EVIL, description: EVIL, reasons: [EVIL] }),
    ),
  'a question that is folded': (screen) => {
    screen.type('draft');
    screen.emit(permission('c1', EVIL, { kind: 'shell', command: EVIL }, { title: EVIL }));
  },
  'the page of an edit, with its title': (screen) => {
    screen.emit(permission('c1', EVIL, edit, { title: EVIL, preview: diff, targets: [{ path: EVIL, real: EVIL }] }));
    screen.look();
  },
  'calls and their output': (screen) =>
    screen.emit(
      starts('c1', EVIL, EVIL, { command: EVIL }),
      reports('c1', { kind: 'output', tail: [EVIL], totalBytes: 1, elapsedMs: 1 }),
      ends('c1', 'Bash', { status: 'failed', text: EVIL, display: output }),
      starts('c2', 'Edit', EVIL),
      ends('c2', 'Edit', { display: diff }),
    ),
  'words that wait': (screen) => screen.emit(queued('q1', 'next', EVIL)),
  'the status line': (screen) =>
    screen.change((view) => ({ ...view, facts: { ...view.facts, model: EVIL, branch: EVIL, mode: EVIL } })),
  'a script of the status line': (screen) =>
    screen.change((view) => ({ ...view, facts: { ...view.facts, scriptOutput: `${EVIL}\n${EVIL}` } })),
};

test.each(Object.entries(STATES))('content of %s reaches the terminal as text only', async (_what, play) => {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.emit(begins());
  play(screen);
  screen.wait(700);
  screen.emit(over());
  await screen.settled();
  const rest = screen
    .bytes()
    .replaceAll(KNOWN_SEQUENCES, '')
    .replaceAll(/[\r\n]/g, '');
  expect(rest).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(screen.bytes()).not.toMatch(/\u001b\[2J|\u001b\]52/);
  screen.close();
  screen.dispose();
});
