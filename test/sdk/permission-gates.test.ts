import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createRulesGate, decideCall } from '../../src/sdk/permission-gates.ts';
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
