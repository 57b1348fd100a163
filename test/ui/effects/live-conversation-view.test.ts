import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { EditorPort, EditorPortEvent } from '../../../src/contracts/frontend/conversation.ts';
import {
  collectShownMessages,
  createLiveConversationView,
  NO_RUNNING_MESSAGES,
  reduceRunningMessages,
} from '../../../src/ui/effects/live-conversation-view.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';
import { calls, says } from '../../support/loop/scripted.ts';
import { grows } from '../widgets/screen/events.ts';
import { effectHost } from './test-host.ts';

test('the running turn can be viewed before it ends, up to its last word', async () => {
  const { agent } = fakeConversation({ replies: [calls({ name: 'Echo', input: { text: 'x' } }), says('The end.')] });
  let running = NO_RUNNING_MESSAGES;
  const receive = (event: AgentEvent) => {
    running = reduceRunningMessages(running, event);
  };
  const all = () => collectShownMessages(agent.state().messages, running);
  const seen: string[][] = [];
  agent.subscribe((event) => {
    receive(event);
    if (event.type === 'message_end') seen.push(all().map(({ role }) => role));
  });
  await agent.prompt('go');
  expect(seen.slice(0, 3)).toEqual([['user'], ['user', 'assistant'], ['user', 'assistant', 'user']]);
  expect(all()).toEqual(agent.state().messages);
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  receive({ type: 'message_start', messageId: 'm9', role: 'assistant', model: 'm', usage });
  receive(grows('Half a', 'm9'));
  expect(all().at(-1)).toMatchObject({ role: 'assistant', blocks: [{ type: 'text', text: 'Half a' }] });
});

test('the context of the editor is shown, and its mentions are words of the draft', () => {
  const listeners = new Set<(event: EditorPortEvent) => void>();
  const editor: EditorPort = {
    start: () => undefined,
    dropContext: () => undefined,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const host = effectHost();
  const live = createLiveConversationView({
    ...host,
    conversation: { ...host.conversation, editor },
    options: { tmux: undefined, now: () => 0 },
    initialState: host.view(),
    describeUnsent: () => undefined,
    onChange: () => undefined,
  });
  const emit = (event: EditorPortEvent) => {
    for (const listener of listeners) listener(event);
  };
  emit({ type: 'context', label: 'a.ts' });
  emit({ type: 'mention', text: '@a.ts#L1' });
  emit({ type: 'mention', text: '@b.ts' });
  expect([live.getView().editorContext, live.getView().editor.text]).toEqual(['a.ts', '@a.ts#L1 @b.ts ']);
  for (let line = 1; line <= 20_000; line += 1) emit({ type: 'mention', text: `@c.ts#L${line}` });
  expect(live.getView().editor.text.length).toBeLessThanOrEqual(10_001);
  emit({ type: 'context', label: undefined });
  expect(live.getView().editorContext).toBeUndefined();
  live.close();
  expect(listeners.size).toBe(0);
});
