import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/contracts/model.ts';
import {
  buildChatRequest,
  createOpenAiPort,
  DEFAULT_CHAT_VARIANT,
} from '../../../src/model/providers/openai-chat/openai-chat-port.ts';

import {
  getToolCallIdFormatter,
  mapSentToolNames,
  shortenToolName,
} from '../../../src/model/providers/tool-identifiers.ts';
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

test('names are short enough, distinct, and mapped back', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-zA-Z0-9_-]{1,128}$/), { maxLength: 20 }), (names) => {
      const sent = names.map(shortenToolName);
      expect(sent.every((name) => name.length <= 64)).toBe(true);
      expect(new Set(sent).size).toBe(names.length);
      const known = mapSentToolNames(names.map(tool));
      expect(sent.map((name) => known.get(name))).toEqual(names);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['https://api.openai.com', /^[a-zA-Z0-9_-]{1,40}$/],
  ['https://api.mistral.ai', /^[a-zA-Z0-9]{9}$/],
])('a conversation from another provider continues at %s', (address, ids) => {
  const body = buildChatRequest(request, DEFAULT_CHAT_VARIANT, getToolCallIdFormatter(address));
  expect(violationOfChat(body, { 'content-type': 'application/json' })).toBeUndefined();
  const sent = JSON.stringify(body.messages);
  const [, call] = /"tool_calls":\[\{"id":"([^"]*)"/.exec(sent) ?? [];
  expect(call).toMatch(ids);
  expect(sent).toContain(`"tool_call_id":"${call}"`);
});

test('a tool called by its short name is the right one', async () => {
  const parts = [OPENAI.open, ...OPENAI.call(0, 'c1', shortenToolName(`${LONG}b`), '{}'), ...OPENAI.done('calls')];
  await using server = await startFaultServer(stream(parts));
  const { outcome } = await drain(createOpenAiPort({ baseUrl: server.url }), { request });
  expect(outcome).toMatchObject({ ok: true, message: { blocks: [{ type: 'tool_use', name: `${LONG}b` }] } });
});
