import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { thinkingRows } from '../../../src/ui/components/Thinking.tsx';
import { rowText } from '../../../src/ui/text/render-lines.ts';
import { begins, opens, over } from '../components/events.ts';
import { openStage, type StageScreen } from '../components/stage-screen.ts';

const thinks = (delta: string): AgentEvent => ({
  type: 'message_update',
  messageId: 'm1',
  index: 0,
  kind: 'thinking',
  delta,
});
const thought = (type: 'thinking' | 'redacted_thinking' = 'thinking'): AgentEvent => ({
  type: 'block_end',
  messageId: 'm1',
  index: 0,
  model: 'm',
  block: type === 'thinking' ? { type, thinking: 'all of it', signature: 's' } : { type, data: 'x' },
});

function stage(...events: readonly AgentEvent[]): StageScreen {
  const screen = openStage({ cols: 60, rows: 20 });
  screen.tell(begins(), ...events);
  return screen;
}

const shown = (screen: StageScreen) => thinkingRows(screen.view().thinking, screen.drawing()).map(rowText);

test('of what is thought the last two rows are shown while it is thought', () => {
  const screen = stage(
    opens('thinking'),
    thinks('First I look at the lexer.\n\n'),
    thinks('Then the parser, '.repeat(9)),
  );
  expect(shown(screen)).toHaveLength(2);
  for (const row of shown(screen)) expect(row.length).toBeLessThan(60);
  expect(shown(screen).join(' ')).toMatch(/the parser,$/);
  expect(shown(screen).join(' ')).not.toContain('lexer');
});

test('when it is over a line says how long it was, if that is worth one', async () => {
  const screen = stage(opens('thinking'), thinks('hm'));
  screen.wait(6_300);
  screen.tell(thought());
  expect(shown(screen)).toEqual([]);
  await screen.waitForText(/thought 6s/);
  const short = stage(opens('thinking'), thinks('hm'), thought());
  expect(short.view().outbox).toBeUndefined();
});

test('what is kept to itself shows no rows, but its time; what never ends goes with its turn', async () => {
  const screen = openStage({ cols: 60, rows: 20 });
  screen.tell(begins(), { type: 'block_start', messageId: 'm1', index: 0, kind: 'redacted_thinking' });
  expect(shown(screen)).toEqual([]);
  screen.wait(2_000);
  screen.tell(thought('redacted_thinking'));
  await screen.waitForText(/thought 2s/);
  expect(stage(opens('thinking'), thinks('hm'), over('aborted_streaming')).view().thinking).toBeUndefined();
});

test('nothing that is thought steers the terminal', () => {
  const screen = stage(opens('thinking'), thinks('a\u001b[2Jb\u202ec'));
  expect(shown(screen).join('')).not.toMatch(/[\u001b\u202e]/);
});
