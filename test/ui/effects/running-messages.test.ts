import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { allMessages, NOTHING_RUNNING, reduceMessages } from '../../../src/ui/effects/running-messages.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';
import { calls, says } from '../../support/loop/scripted.ts';
import { grows } from '../components/events.ts';

test('the running turn can be read before it is over, up to its last word', async () => {
  const { agent } = fakeConversation({ replies: [calls({ name: 'Echo', input: { text: 'x' } }), says('The end.')] });
  let running = NOTHING_RUNNING;
  const hear = (event: AgentEvent) => {
    running = reduceMessages(running, event);
  };
  const all = () => allMessages(agent.state().messages, running);
  const seen: string[][] = [];
  agent.subscribe((event) => {
    hear(event);
    if (event.type === 'message_end') seen.push(all().map(({ role }) => role));
  });
  await agent.prompt('go');
  expect(seen.slice(0, 3)).toEqual([['user'], ['user', 'assistant'], ['user', 'assistant', 'user']]);
  expect(all()).toEqual(agent.state().messages);
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  hear({ type: 'message_start', messageId: 'm9', role: 'assistant', model: 'm', usage });
  hear(grows('Half a', 'm9'));
  expect(all().at(-1)).toMatchObject({ role: 'assistant', blocks: [{ type: 'text', text: 'Half a' }] });
});
