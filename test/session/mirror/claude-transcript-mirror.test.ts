import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getSessionInfo, getSessionMessages, getSubagentMessages, listSubagents } from '@anthropic-ai/claude-agent-sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../src/contracts/json.ts';
import { calls, says, text, toolUse } from '../../support/api/reply.ts';
import { type Script, startApiServer } from '../../support/api/server.ts';
import { longTest } from '../../support/long-test.ts';
import { runHere } from '../../support/run-here.ts';
import { storedFile } from '../../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
const before = process.env.CLAUDE_CONFIG_DIR;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
  // Where the SDK's own readers look.
  process.env.CLAUDE_CONFIG_DIR = join(project.home, '.claude');
});
afterEach(async () => {
  if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
  else process.env.CLAUDE_CONFIG_DIR = before;
  await project.remove();
});

const MIRROR = { transcriptMirror: '~/.claude' };

async function talk(turns: Script['turns'], args: readonly string[], settings: object = MIRROR) {
  await using server = await startApiServer({ turns });
  const all = [...args, '--settings', JSON.stringify(settings), '--dangerously-skip-permissions'];
  const end = await runHere(project, all, server.url, { env: { IS_SANDBOX: '1' } });
  expect(end).toMatchObject({ code: 0, stderr: '' });
  return end.stdout;
}

async function mirrored(): Promise<{ readonly text: string; readonly lines: readonly JsonObject[] }> {
  const { id } = await storedFile(project);
  const text = await readFile(join(project.home, '.claude', 'projects', slug(), `${id}.jsonl`), 'utf8');
  return {
    text,
    lines: text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  };
}

const slug = () => project.dir.replaceAll(/[^A-Za-z0-9]/g, '-');

const spoken = z.object({
  content: z.union([
    z.string(),
    z.array(z.looseObject({ text: z.string().optional(), name: z.string().optional(), content: z.json().optional() })),
  ]),
});

/** What a message says, in a word for each block. */
function gist({ message }: { readonly message: unknown }): string {
  const { content } = spoken.parse(message);
  if (typeof content === 'string') return content;
  return content.map((block) => block.text ?? block.name ?? String(block.content)).join(' + ');
}

test('readers of Claude Code transcripts see the conversation: calls, results, sub-agents, usage', async () => {
  await talk(
    [
      calls(text('I ask.'), toolUse('Task', { description: 'd', prompt: 'look around', subagent_type: 'Explore' })),
      says('All is quiet.'),
      calls(toolUse('Bash', { command: 'echo one' }, 'toolu_1'), toolUse('Bash', { command: 'echo two' }, 'toolu_2')),
      says('Done.'),
    ],
    ['-p', 'what is up?'],
  );
  const { id } = await storedFile(project);
  const said = await getSessionMessages(id, { dir: project.dir });
  const words = said.map(gist);
  expect(words.slice(0, 6)).toEqual([
    'what is up?',
    'I ask.',
    'Task',
    expect.stringContaining('All is quiet.'),
    'Bash',
    'Bash',
  ]);
  // Calls that run side by side end in any order.
  expect(words.slice(6, 8).toSorted()).toEqual(['one', 'two']);
  expect(words.slice(8)).toEqual(['Done.']);
  const [agent = ''] = await listSubagents(id, { dir: project.dir });
  const aside = await getSubagentMessages(id, agent, { dir: project.dir });
  expect(aside.map(gist)).toEqual(['look around', 'All is quiet.']);
  expect(await getSessionInfo(id, { dir: project.dir })).toMatchObject({
    cwd: project.dir,
    firstPrompt: 'what is up?',
  });
  const { lines } = await mirrored();
  expect(lines).toContainEqual(
    expect.objectContaining({ toolUseResult: { stdout: 'one\n', stderr: '', interrupted: false } }),
  );
  for (const { type, message } of lines) {
    if (type === 'assistant')
      expect(message).toMatchObject({ usage: { input_tokens: expect.any(Number), output_tokens: 12 } });
  }
});

test('a hook that reads the transcript finds the text it is about', async () => {
  const command = `tail -n 1 "$(sed 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/')" > '${project.dir}/seen'`;
  await talk([says('Here I am.')], ['-p', 'where are you?'], {
    ...MIRROR,
    hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] },
  });
  expect(JSON.parse(await project.read('seen'))).toMatchObject({
    type: 'assistant',
    message: { content: [{ text: 'Here I am.' }], stop_reason: 'end_turn' },
  });
});

longTest('a resumed session is mirrored from its beginning', async () => {
  await talk([says('First.')], ['-p', 'one'], {});
  await talk([says('Second.')], ['-p', 'two', '--continue']);
  const { text } = await mirrored();
  const { id } = await storedFile(project);
  const path = join(project.home, '.claude', 'projects', slug(), `${id}.jsonl`);
  await writeFile(path, 'nonsense');
  await talk([says('Third.')], ['-p', 'three', '--continue']);
  const said = await getSessionMessages(id, { dir: project.dir });
  expect(said.map(gist)).toEqual(['one', 'First.', 'two', 'Second.', 'three', 'Third.']);
  expect((await mirrored()).text.startsWith(text)).toBe(true);
});

longTest('export returns the lines of the mirror, without a mirror', async () => {
  await talk([calls(toolUse('Bash', { command: 'echo one' })), says('Done.')], ['-p', 'do it']);
  const { text } = await mirrored();
  const { stdout } = await runHere(project, ['sessions', 'export', '--format', 'claude']);
  expect(stdout).toBe(text);
});

longTest('files are private, and when nothing can be written the session continues', async () => {
  await talk([says('Fine.')], ['-p', 'hello']);
  const { id } = await storedFile(project);
  const folder = join(project.home, '.claude', 'projects', slug());
  expect((await stat(join(folder, `${id}.jsonl`))).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await rm(join(project.home, '.claude'), { recursive: true });
  await writeFile(join(project.home, '.claude'), 'a file');
  await using server = await startApiServer({ turns: [says('Still fine.')] });
  const args = ['-p', 'again', '--settings', JSON.stringify(MIRROR)];
  const end = await runHere(project, args, server.url);
  expect(end).toMatchObject({ code: 0, stdout: 'Still fine.\n' });
  expect(end.stderr).toContain('could not be mirrored');
});

test('unstored sessions are not mirrored, and nothing is without the setting', async () => {
  await talk([says('Fine.')], ['-p', 'hello', '--no-session-persistence']);
  await talk([says('Fine.')], ['-p', 'hello'], {});
  expect(await readdir(project.home)).not.toContain('.claude');
});
