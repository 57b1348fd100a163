import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { getRowText } from '../../../src/ui/text/render-lines.ts';
import { renderLiveThinking } from '../../../src/ui/widgets/screen/live-blocks.ts';
import { begins, opens, over } from '../widgets/screen/events.ts';
import { openStage, type StageScreen } from '../widgets/screen/stage-screen.ts';

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
  screen.emit(begins(), ...events);
  return screen;
}

const shown = (screen: StageScreen) => renderLiveThinking(screen.view().thinking, screen.drawing()).map(getRowText);

test('the last two rows of thinking are shown while it streams', () => {
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

test('afterwards a line shows its duration, if that is long enough', async () => {
  const screen = stage(opens('thinking'), thinks('hm'));
  screen.wait(6_300);
  screen.emit(thought());
  expect(shown(screen)).toEqual([]);
  await screen.waitForText(/thought for 6s/);
  const short = stage(opens('thinking'), thinks('hm'), thought());
  expect(short.view().outbox).toBeUndefined();
});

test('hidden thinking shows no rows, but its duration; unfinished thinking ends with its turn', async () => {
  const screen = openStage({ cols: 60, rows: 20 });
  screen.emit(begins(), { type: 'block_start', messageId: 'm1', index: 0, kind: 'redacted_thinking' });
  expect(shown(screen)).toEqual([]);
  screen.wait(2_000);
  screen.emit(thought('redacted_thinking'));
  await screen.waitForText(/thought for 2s/);
  expect(stage(opens('thinking'), thinks('hm'), over('aborted_streaming')).view().thinking).toBeUndefined();
});

test('thinking cannot inject terminal sequences', () => {
  const screen = stage(opens('thinking'), thinks('a\u001b[2Jb\u202ec'));
  expect(shown(screen).join('')).not.toMatch(/[\u001b\u202e]/);
});
