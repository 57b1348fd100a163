import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createViewState, IDLE_ACTIVITY, type ViewState } from '../../../src/ui/app-state/view-state.ts';
import { getStatusLineFacts } from '../../../src/ui/effects/conversation-facts.ts';
import type { ScreenOptions } from '../../../src/ui/terminal/screen-options.ts';
import { createTerminalStatus } from '../../../src/ui/terminal/terminal-status.ts';
import { queryTmux, type TmuxFacts } from '../../../src/ui/terminal/tmux.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const IDLE = createViewState(getStatusLineFacts(fakeConversation()), []);
const BUSY: ViewState = { ...IDLE, activity: { ...IDLE_ACTIVITY, status: 'requesting' } };
const FAILED: ViewState = { ...IDLE, lastRunEnd: 'failed' };
const AWAY: ViewState = { ...IDLE, keys: { ...IDLE.keys, window: 'away' } };

function listening(options: Partial<ScreenOptions>) {
  const written: string[] = [];
  let nowMs = 0;
  const words = createTerminalStatus((text) => void written.push(text), {
    title: 'off',
    notify: 'off',
    progress: 'off',
    glyphs: 'unicode',
    now: () => nowMs,
    ...options,
  });
  return { words, written, pass: (ms: number) => (nowMs += ms) };
}

test('the terminal title reports work, failure and end', () => {
  const { words, written } = listening({ progress: 'shown' });
  for (const view of [IDLE, BUSY, BUSY, FAILED, BUSY]) words.update(view);
  words.close();
  words.close();
  expect(written).toEqual(['3;0', '2;100', '3;0', '0;0'].map((state) => `\x1b]9;4;${state}\x07`));
  const other = listening({});
  other.words.update(BUSY);
  expect(other.written).toEqual([]);
});

const WRAPPED = '\x1bPtmux;\x1b\x1b]99;;ouro has finished\x1b\x1b\\\x1b\\';

test.each([
  ['on', WRAPPED],
  ['off', '\x07'],
] as const)('inside tmux with passthrough %s, a call is heard', async (passthrough, expected) => {
  const outerTerminal = { name: 'xterm-kitty', program: 'kitty(0.40)' };
  const { words, written, pass } = listening({
    notify: 'tmux',
    tmux: async () => ({ allowsPassthrough: passthrough === 'on', setsClipboard: false, outerTerminal }),
  });
  pass(20_000);
  words.handleEvent({ type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 1 }, AWAY);
  await expect.poll(() => written).toEqual([expected]);
});

test('tmux is asked about passthrough and visibility', async () => {
  const dir = createTempFolder();
  const program = join(dir, 'tmux');
  await writeFile(program, '#!/bin/sh\nprintf "1\\nexternal\\nxterm-ghostty\\nghostty 1.2.0\\n"\n');
  await chmod(program, 0o755);
  const outerTerminal = { name: 'xterm-ghostty', program: 'ghostty 1.2.0' };
  expect(await queryTmux(program)).toEqual<TmuxFacts>({ allowsPassthrough: true, setsClipboard: false, outerTerminal });
  expect(await queryTmux(join(dir, 'none'))).toMatchObject({ allowsPassthrough: false, setsClipboard: false });
});
