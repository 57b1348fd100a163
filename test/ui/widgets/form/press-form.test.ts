import { expect, test } from 'vitest';
import type { ElicitationRequest } from '../../../../src/contracts/tool.ts';
import { longTest } from '../../../support/long-test.ts';
import { asks, begins, starts } from '../screen/events.ts';
import { openStage, type StageScreen } from '../screen/stage-screen.ts';

const FORM: ElicitationRequest = {
  mode: 'form',
  schema: {
    type: 'object',
    properties: {
      colour: {
        type: 'string',
        title: 'Colour',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
      },
      days: { type: 'array', title: 'Days', items: { type: 'string', enum: ['mo', 'tu', 'we'] }, maxItems: 2 },
      age: { type: 'integer', title: 'Age', minimum: 0 },
      size: { type: 'string', title: 'Size', default: 'large' },
      agreed: { type: 'boolean', title: 'Agreed' },
    },
    required: ['colour', 'age'],
  },
};

function askedFor(wants: ElicitationRequest): StageScreen {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.wait(1000);
  const question = { kind: 'elicitation', server: 'github', message: 'Who are you?', wants } as const;
  screen.emit(begins(), starts('c1', 'mcp__github__login', 'github: login'), asks('c1', question));
  screen.wait(600);
  return screen;
}

/** Keys one after the other, as somebody presses them who reads what is new. */
function slowly(screen: StageScreen, ...chords: readonly string[]): void {
  for (const chord of chords) {
    screen.press(chord);
    screen.wait(600);
  }
}

const answers = (screen: StageScreen) => screen.effects.filter(({ type }) => type === 'answer_question');
const sent = (answer: object) => [
  { type: 'answer_question', id: 'ask-c1', answer: { kind: 'elicitation', ...answer } },
];

test('a form is filled in field by field, reviewed, and sent with typed values', async () => {
  const screen = askedFor(FORM);
  slowly(screen, '2', '1', '3', 'enter');
  screen.type('42');
  slowly(screen, 'enter', 'enter', '1');
  await screen.waitForText(/Age: 42/);
  expect(answers(screen)).toEqual([]);
  slowly(screen, 'y');
  expect(answers(screen)).toEqual(
    sent({ action: 'accept', content: { colour: 'g', days: ['mo', 'we'], age: 42, size: 'large', agreed: true } }),
  );
});

test('an invalid value stays where it was typed, with the reason', async () => {
  const screen = askedFor(FORM);
  slowly(screen, '1', 's');
  screen.type('4.5');
  slowly(screen, 'enter');
  await screen.waitForText(/Age must be a whole number\./);
  expect(screen.view().editor.text).toBe('4.5');
  slowly(screen, 'backspace', 'backspace', 'enter', 'enter', 's', 'y');
  expect(answers(screen)).toEqual(sent({ action: 'accept', content: { colour: 'r', age: 4, size: 'large' } }));
});

test('a text field takes text at once, whatever its letters; an empty optional one is skipped', async () => {
  const text = { type: 'string' } as const;
  const schema = { type: 'object', properties: { name: text, nick: text, town: text }, required: ['town'] } as const;
  const screen = askedFor({ mode: 'form', schema });
  screen.wait(600);
  screen.type('1 no');
  slowly(screen, 'enter', 'enter');
  // A required field stays; Esc leads back to the options, and the text is kept.
  slowly(screen, 'enter');
  screen.type('Bonn');
  slowly(screen, 'esc', '1', 'enter');
  await screen.waitForText(/name: 1 no[\s▌│]+town: Bonn/);
  slowly(screen, 'y');
  expect(answers(screen)).toEqual(sent({ action: 'accept', content: { name: '1 no', town: 'Bonn' } }));
});

longTest('a text field takes no text while the draft has some, and Esc leads to its options', async () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } } as const;
  const screen = openStage({ cols: 80, rows: 24 });
  screen.wait(1000);
  screen.type('my draft');
  const question = {
    kind: 'elicitation',
    server: 'github',
    message: 'Who are you?',
    wants: { mode: 'form', schema },
  } as const;
  screen.emit(begins(), starts('c1', 'mcp__github__login', 'github: login'), asks('c1', question));
  screen.wait(3000);
  screen.type(' goes on');
  expect(screen.view().editor.text).toBe('my draft goes on');
  const empty = askedFor({ mode: 'form', schema });
  slowly(empty, 'esc', 'n');
  expect(answers(empty)).toEqual(sent({ action: 'decline' }));
});

test('required fields cannot be skipped, and any field can be declined', async () => {
  const screen = askedFor(FORM);
  slowly(screen, 's');
  await screen.waitForText(/Colour/);
  slowly(screen, '1', 'b', 'n');
  expect(answers(screen)).toEqual(sent({ action: 'decline' }));
});

test('a URL is shown in full, and opening it accepts the request', async () => {
  const url = 'https://example.com/connect?state=abc';
  const screen = askedFor({ mode: 'url', url, id: 'e1' });
  await screen.waitForText(/example\.com\/connect\?state=abc/);
  slowly(screen, 'y');
  expect(answers(screen)).toEqual(sent({ action: 'accept', content: {} }));
});

test('enter takes the first choice, or the default of the field, and never sends', async () => {
  const screen = askedFor({
    mode: 'form',
    schema: {
      type: 'object',
      properties: {
        one: { type: 'string', enum: ['a', 'b'] },
        other: { type: 'string', enum: ['a', 'b'], default: 'b' },
      },
    },
  });
  slowly(screen, 'enter', 'enter', 'enter');
  await screen.waitForText(/one: a[\s\S]*other: b/);
  expect(answers(screen)).toEqual([]);
});

longTest('choices without a digit are named where one can be typed', async () => {
  const regions = Array.from({ length: 14 }, (_, at) => `region-${at + 1}`);
  const screen = askedFor({
    mode: 'form',
    schema: { type: 'object', properties: { region: { type: 'string', enum: regions } }, required: ['region'] },
  });
  screen.wait(600);
  await screen.settled();
  const rows = screen.screen().join('\n');
  expect(rows).toMatch(/9 {2}region-9\n.*o {2}Type one of the other choices {3}region-10, region-11/);
  expect(rows).not.toMatch(/1[01] {2}[on] /);
  slowly(screen, 'o');
  screen.type('region-13');
  slowly(screen, 'enter', 'y');
  expect(answers(screen)).toEqual(sent({ action: 'accept', content: { region: 'region-13' } }));
});

longTest('a URL shows its host, whatever it starts with, and can be copied and read whole', async () => {
  const url = `https://github.com@evil.example:8443/${'long/'.repeat(60)}`;
  const screen = askedFor({ mode: 'url', url, id: 'e1' });
  await screen.settled();
  expect(screen.screen().join('\n')).toContain('Host: evil.example:8443');
  slowly(screen, 'c', 'v');
  expect(screen.effects).toMatchObject([
    { type: 'copy', text: url },
    { type: 'view_question', markdown: expect.stringContaining(url) },
  ]);
  expect(answers(screen)).toEqual([]);
});

longTest('in a low window the selected option is shown whole, and keeps its typed text', async () => {
  const screen = openStage({ cols: 40, rows: 15 });
  const options = ['PostgreSQL', 'SQLite', 'A File'].map((label) => ({
    label,
    description: `what ${label} costs and what comes with it, said at some length`,
  }));
  const question = { question: 'Which of them shall it be, given all that was said?', options, multiSelect: false };
  screen.emit(begins(), asks('c1', { kind: 'questions', questions: [question] }));
  screen.wait(600);
  screen.press('down');
  await screen.settled();
  const rows = screen
    .screen()
    .join('\n')
    .replaceAll(/[\s▌]+/g, ' ');
  expect(rows).toContain('2 SQLite what SQLite costs and what comes with it, said at some length');
  expect(rows).toMatch(/1 PostgreSQL what Pos.*…/);
  screen.type('but');
  await screen.settled();
  expect(screen.screen().join('\n')).toContain('then  1 P');
});
