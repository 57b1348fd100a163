import { readdir } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/contracts/json.ts';
import type { CallContext, Tool, ToolOutcome } from '../../src/contracts/tool.ts';
import { createRulesGate, decideCall, type ToolGate, wrapWithGate } from '../../src/sdk/permission-gates.ts';
import { bashTool } from '../../src/sdk/tools.ts';
import { buildTool } from '../../src/tools/definition/build-tool.ts';
import { createTempProject } from '../support/temp-project.ts';

const project = await createTempProject({ '.env': 'KEY=1', 'a.txt': 'a' });
const cwd = project.dir;
afterAll(project.remove);

test.each([
  ['Bash', { command: 'npm test' }, 'allow'],
  ['Bash', { command: 'npm test && rm -rf /' }, 'ask'],
  ['Read', { file_path: `${cwd}/a.txt` }, 'allow'],
  ['Read', { file_path: `${cwd}/.env` }, 'deny'],
  ['Write', { file_path: `${cwd}/b.txt`, content: '' }, 'ask'],
  ['Nobody', {}, 'ask'],
] as const)('%s with %j is decided: %s', (tool, input, verdict) => {
  const decision = decideCall({ cwd, allow: ['Bash(npm test:*)'], deny: ['Read(.env)'] }, { tool, input });
  expect(decision.verdict).toBe(verdict);
  expect(decision.reasons.join(' ')).not.toBe('');
});

test('a custom tool is judged by the paths it reports', async () => {
  const save = buildTool({
    name: 'Save',
    prompt: 'Saves a note.',
    input: z.object({ path: z.string() }),
    facts: ({ path }) => ({ kind: 'edit', writes: [String(path)] }),
    call: async () => ({ content: 'saved' }),
  });
  const rules = { cwd, tools: [save], mode: 'acceptEdits' } as const;
  const inside = { tool: 'Save', input: { path: `${cwd}/note.txt` } };
  const outside = { tool: 'Save', input: { path: '/etc/note.txt' } };
  expect([decideCall(rules, inside).verdict, decideCall(rules, outside).verdict]).toEqual(['allow', 'ask']);
  const gate = createRulesGate(rules);
  const call = { ...inside, callId: 'c', title: 'Save', cwd, isReadOnly: false };
  const { signal } = new AbortController();
  expect((await gate(call, signal)).behavior).toBe('allow');
  expect((await gate({ ...call, ...outside }, signal)).behavior).toBe('deny');
});

/** Calls a tool with an input; nobody answers its questions. */
async function callTool(tool: Tool, input: JsonObject): Promise<ToolOutcome> {
  const prepared = tool.prepare(input);
  if (!prepared.ok) throw new Error(prepared.problem);
  const { signal } = new AbortController();
  return prepared.call.call({ callId: 'c', cwd: '/', signal, report: () => undefined, ask: async () => undefined });
}

const readOnly = { kind: 'read-only', readable: [] } as const;

test('a call runs in the limits that its gate sets', async () => {
  const limits: CallContext['enforce'][] = [];
  const tool = buildTool({
    name: 'Look',
    prompt: 'Looks.',
    input: z.object({}),
    call: async (_, { enforce }) => {
      limits.push(enforce);
      return { content: 'seen' };
    },
  });
  const gate: ToolGate = async ({ input }) => ({ behavior: 'allow', input, enforce: readOnly });
  await callTool(wrapWithGate(tool, { cwd, gate }), {});
  expect(limits).toEqual([readOnly]);
});

test('a command that its gate limits to reading does not run where nothing can limit it', async () => {
  const gate: ToolGate = async ({ input }) => ({ behavior: 'allow', input, enforce: readOnly });
  const outcome = callTool(bashTool({ cwd, gate }), { command: 'echo written > limited.txt' });
  await expect(outcome).rejects.toThrow('Nothing was run: the command cannot be limited to reading.');
  expect(await readdir(cwd)).not.toContain('limited.txt');
});

test('the model is told of the input that a gate has changed', async () => {
  const tool = buildTool({
    name: 'Echo',
    prompt: 'Echoes.',
    input: z.object({ text: z.string() }),
    call: async ({ text }) => ({ content: text, attachment: 'Of the tool.' }),
  });
  const gate: ToolGate = async () => ({ behavior: 'allow', input: { text: 'b' }, note: 'Only b.' });
  expect(await callTool(wrapWithGate(tool, { cwd, gate }), { text: 'a' })).toEqual({
    content: 'b',
    attachment: 'Only b. It ran with this input in place of yours: {"text":"b"}\n\nOf the tool.',
  });
});
