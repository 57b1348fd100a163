import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { statusFactsOf } from '../../../src/ui/effects/facts.ts';
import type { ScreenOptions } from '../../../src/ui/terminal/screen-options.ts';
import { createTerminalWords } from '../../../src/ui/terminal/terminal-words.ts';
import { askTmux } from '../../../src/ui/terminal/tmux.ts';
import { IDLE_ACTIVITY, initialView, type ViewState } from '../../../src/ui/view/view-state.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';

const IDLE = initialView(statusFactsOf(fakeConversation()), []);
const BUSY: ViewState = { ...IDLE, activity: { ...IDLE_ACTIVITY, status: 'requesting' } };
const AWAY: ViewState = { ...IDLE, keys: { ...IDLE.keys, window: 'away' } };

function listening(options: Partial<ScreenOptions>) {
  const written: string[] = [];
  let nowMs = 0;
  const words = createTerminalWords((text) => void written.push(text), {
    title: 'off',
    notify: 'off',
    progress: 'off',
    glyphs: 'unicode',
    now: () => nowMs,
    ...options,
  });
  return { words, written, pass: (ms: number) => (nowMs += ms) };
}

test('the terminal is told of work, of its failure and of its end', () => {
  const { words, written } = listening({ progress: 'shown' });
  for (const view of [IDLE, BUSY, BUSY, { ...IDLE, rest: 'failed' as const }, BUSY]) words.show(view);
  words.close();
  words.close();
  expect(written).toEqual(['3;0', '2;100', '3;0', '0;0'].map((state) => `\x1b]9;4;${state}\x07`));
  const other = listening({});
  other.words.show(BUSY);
  expect(other.written).toEqual([]);
});

const WRAPPED = '\x1bPtmux;\x1b\x1b]99;;ouro has finished\x1b\x1b\\\x1b\\';

test.each([
  ['on', WRAPPED],
  ['off', '\x07'],
] as const)('inside tmux with passthrough %s, a call is heard', async (passthrough, expected) => {
  const outside = { name: 'xterm-kitty', program: 'kitty(0.40)' };
  const { words, written, pass } = listening({
    notify: 'tmux',
    tmux: async () => ({ allowsPassthrough: passthrough === 'on', setsClipboard: false, outside }),
  });
  pass(20_000);
  words.hear({ type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 1 }, AWAY);
  await expect.poll(() => written).toEqual([expected]);
});

test('tmux is asked what it lets through and where it is shown', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ouro-tmux-'));
  const program = join(dir, 'tmux');
  await writeFile(program, '#!/bin/sh\nprintf "1\\nexternal\\nxterm-ghostty\\nghostty 1.2.0\\n"\n');
  await chmod(program, 0o755);
  const outside = { name: 'xterm-ghostty', program: 'ghostty 1.2.0' };
  expect(await askTmux(program)).toEqual({ allowsPassthrough: true, setsClipboard: false, outside });
  expect(await askTmux(join(dir, 'none'))).toMatchObject({ allowsPassthrough: false, setsClipboard: false });
  await rm(dir, { recursive: true });
});
