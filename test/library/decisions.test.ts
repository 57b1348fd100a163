import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { decisionOf } from '../../src/library/decisions.ts';
import { rulesGate } from '../../src/library/tool-gate.ts';
import { buildTool } from '../../src/tools/build-tool.ts';
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
  const decision = decisionOf({ cwd, allow: ['Bash(npm test:*)'], deny: ['Read(.env)'] }, { tool, input });
  expect(decision.verdict).toBe(verdict);
  expect(decision.reasons.join(' ')).not.toBe('');
});

test('a tool of one’s own that says what it touches is judged by that', async () => {
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
  expect([decisionOf(rules, inside).verdict, decisionOf(rules, outside).verdict]).toEqual(['allow', 'ask']);
  const gate = rulesGate(rules);
  const call = { ...inside, callId: 'c', title: 'Save', cwd, isReadOnly: false };
  const { signal } = new AbortController();
  expect((await gate(call, signal)).behavior).toBe('allow');
  expect((await gate({ ...call, ...outside }, signal)).behavior).toBe('deny');
});
