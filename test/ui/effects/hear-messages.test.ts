import { expect, test } from 'vitest';
import { hearMessages } from '../../../src/ui/effects/hear-messages.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';
import { calls, says } from '../../support/loop/scripted.ts';
import { grows } from '../screen/told.ts';

test('the running turn can be read before it is over, up to its last word', async () => {
  const { agent } = fakeConversation({ replies: [calls({ name: 'Echo', input: { text: 'x' } }), says('The end.')] });
  const heard = hearMessages(agent);
  const seen: string[][] = [];
  agent.subscribe((event) => {
    heard.hear(event);
    if (event.type === 'message_end') seen.push(heard.all().map(({ role }) => role));
  });
  await agent.prompt('go');
  expect(seen.slice(0, 3)).toEqual([['user'], ['user', 'assistant'], ['user', 'assistant', 'user']]);
  expect(heard.all()).toEqual(agent.state().messages);
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  heard.hear({ type: 'message_start', messageId: 'm9', role: 'assistant', model: 'm', usage });
  heard.hear(grows('Half a', 'm9'));
  expect(heard.all().at(-1)).toMatchObject({ role: 'assistant', blocks: [{ type: 'text', text: 'Half a' }] });
});
