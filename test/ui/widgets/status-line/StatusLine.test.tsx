import { expect, test } from 'vitest';
import { createViewState, IDLE_ACTIVITY, type StatusLineFacts } from '../../../../src/ui/app-state/view-state.ts';
import { createDraftEditor } from '../../../../src/ui/widgets/composer/draft-editor-state.ts';
import { getStatusLineHeight, StatusLine } from '../../../../src/ui/widgets/status-line/StatusLine.tsx';
import { DRAWING, renderPart } from '../screen/render-part.tsx';

const FACTS: StatusLineFacts = {
  mode: 'acceptEdits',
  model: 'sonnet-5',
  contextTokens: 24_000,
  contextWindow: 200_000,
  costUsd: 0.42,
  branch: 'main',
  changedLines: { added: 0, removed: 0 },
  backgroundTasks: 2,
  isDemo: false,
};
const VIEW = createViewState(FACTS);
const WRITING = {
  ...VIEW,
  activity: { ...IDLE_ACTIVITY, status: 'writing', sinceMs: 4_000, turnStartedAtMs: 4_000, lastByteAtMs: 9_000 },
} as const;

test('when idle it shows folder and model', () => {
  expect(renderPart(<StatusLine view={VIEW} />)).toEqual([
    '  accept edits   sonnet-5   ▰▱▱▱▱▱▱▱ 12%   $0.42   ⎇ main   2 background',
  ]);
});

test('the activity comes first, and segments that do not fit are dropped as a whole', () => {
  const whole = '  accept edits   ◐ writing 6s · 0 tokens  esc stop   sonnet-5   12%   $0.42   2 background';
  expect(renderPart(<StatusLine view={WRITING} />, { width: 97 })).toEqual([whole]);
  expect(renderPart(<StatusLine view={WRITING} />, { width: 73 })).toEqual([
    '  accept edits   ◐ writing 6s · 0 tokens  esc stop   sonnet-5   12%',
  ]);
  expect(renderPart(<StatusLine view={WRITING} />, { width: 40 })).toEqual(['  accept edits   ◐ writing 6s · 0 tok…']);
});

test('during a question everything is shown, and last for how long; that is dropped last', () => {
  const facts: StatusLineFacts = {
    ...FACTS,
    mode: 'default',
    backgroundTasks: 0,
    changedLines: { added: 3, removed: 2 },
  };
  const asking = {
    ...VIEW,
    facts,
    activity: { ...IDLE_ACTIVITY, status: 'waiting_for_answer', sinceMs: 6_000 },
  } as const;
  const rows = (width: number) => renderPart(<StatusLine view={asking} />, { width });
  expect(rows(80)).toEqual(['  ask   sonnet-5   ▰▱▱▱▱▱▱▱ 12%   $0.42   ⎇ main +3 −2   ? waiting for you 4s']);
  expect(rows(70)).toEqual(['  ask   sonnet-5   ▰▱▱▱▱▱▱▱ 12%   $0.42   ? waiting for you 4s']);
  expect(rows(40)).toEqual(['  ask   12%   ? waiting for you 4s']);
});

test('a custom script has the line, and lines below it where the terminal is high enough', () => {
  const facts: StatusLineFacts = { ...FACTS, scriptOutput: 'one\ntwo' };
  const view = { ...VIEW, facts };
  expect(renderPart(<StatusLine view={view} />)).toEqual(['  accept edits   one', '  two']);
  expect(renderPart(<StatusLine view={view} />, { rows: 12 })).toEqual(['  accept edits   one']);
  expect([getStatusLineHeight(view, DRAWING), getStatusLineHeight(view, { ...DRAWING, rows: 12 })]).toEqual([2, 1]);
});

test('an empty context has an empty gauge', () => {
  const [row] = renderPart(<StatusLine view={{ ...VIEW, facts: { ...FACTS, contextTokens: 0 } }} />);
  expect(row).toContain('▱▱▱▱▱▱▱▱ 0%');
});

test.each([
  ['!ls', 'shell'],
  ['#remember this', 'note'],
  ['/help', 'accept edits'],
  ['ls', 'accept edits'],
])('for a draft %s the chip says what enter does with it', (text, word) => {
  const view = { ...VIEW, editor: createDraftEditor({ draft: { text, caret: text.length } }) };
  expect(renderPart(<StatusLine view={view} />)[0]?.startsWith(`  ${word}   `)).toBe(true);
});
