import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/contracts/model.ts';
import { toChatCompletion, USUAL_FORM } from '../../../src/model/chat/openai-to-wire.ts';
import { createOpenAiPort } from '../../../src/model/openai-compatible.ts';
import { chatName, idRuleOf, toolNames } from '../../../src/model/wire/openai-names.ts';
import { violationOfChat } from '../../support/api/validate-chat.ts';
import { OPENAI } from '../dialects.ts';
import { startFaultServer, stream } from '../fault-server.ts';
import { drain, REQUEST } from '../support.ts';

const LONG = `mcp__server__${'look_'.repeat(20)}`;
const tool = (name: string) => ({ name, description: name, input_schema: { type: 'object' } });
const request: ModelRequest = {
  ...REQUEST,
  tools: [tool(`${LONG}a`), tool(`${LONG}b`), tool('Read')],
  messages: [
    ...REQUEST.messages,
    { role: 'assistant', blocks: [{ type: 'tool_use', id: `toolu_${'x'.repeat(60)}`, name: `${LONG}b`, input: {} }] },
    { role: 'user', blocks: [{ type: 'tool_result', tool_use_id: `toolu_${'x'.repeat(60)}`, content: 'found' }] },
  ],
};

test('names are short enough, stay apart, and are known again', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-zA-Z0-9_-]{1,128}$/), { maxLength: 20 }), (names) => {
      const sent = names.map(chatName);
      expect(sent.every((name) => name.length <= 64)).toBe(true);
      expect(new Set(sent).size).toBe(names.length);
      const known = toolNames(names.map(tool));
      expect(sent.map((name) => known.get(name))).toEqual(names);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['https://api.openai.com', /^[a-zA-Z0-9_-]{1,40}$/],
  ['https://api.mistral.ai', /^[a-zA-Z0-9]{9}$/],
])('a conversation from elsewhere can go on at %s', (address, ids) => {
  const body = toChatCompletion(request, USUAL_FORM, idRuleOf(address));
  expect(violationOfChat(body, { 'content-type': 'application/json' })).toBeUndefined();
  const sent = JSON.stringify(body.messages);
  const [, call] = /"tool_calls":\[\{"id":"([^"]*)"/.exec(sent) ?? [];
  expect(call).toMatch(ids);
  expect(sent).toContain(`"tool_call_id":"${call}"`);
});

test('the tool that is called by its short name is the one that is meant', async () => {
  const parts = [OPENAI.open, ...OPENAI.call(0, 'c1', chatName(`${LONG}b`), '{}'), ...OPENAI.done('calls')];
  await using server = await startFaultServer(stream(parts));
  const { outcome } = await drain(createOpenAiPort({ baseUrl: server.url }), { request });
  expect(outcome).toMatchObject({ ok: true, message: { blocks: [{ type: 'tool_use', name: `${LONG}b` }] } });
});
