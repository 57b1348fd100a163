import { expect, test } from 'vitest';
import { buildTool } from '../../../src/tools/definition/build-tool.ts';
import { interceptCalls } from '../../../src/tools/definition/intercept-calls.ts';

const context = {
  callId: 'call-1',
  cwd: '/',
  signal: new AbortController().signal,
  report: () => undefined,
  ask: async () => undefined,
};

test('calls are made by the function, and the tool goes on to describe itself anew', async () => {
  let version = 1;
  const tool = buildTool({
    name: 'Echo',
    prompt: () => `Version ${version}.`,
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    isReadOnly: true,
    title: 'Echoes',
    call: async ({ text }) => ({ content: String(text) }),
  });
  const loud = interceptCalls(tool, async (call, called) => {
    const { content } = await call.call(called);
    return { content: String(content).toUpperCase() };
  });
  const prepared = loud.prepare({ text: 'hello' });
  expect(prepared).toMatchObject({ ok: true, call: { title: 'Echoes', isReadOnly: true, isConcurrencySafe: false } });
  expect(prepared.ok && (await prepared.call.call(context))).toEqual({ content: 'HELLO' });
  expect(loud.prepare({}).ok).toBe(false);
  expect(loud.spec.description).toBe('Version 1.');
  version = 2;
  expect(loud.spec.description).toBe('Version 2.');
});
