import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ApiTurn, calls, says, toolUse } from '../../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../../support/api/server.ts';
import { type Composed, composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { runHere } from '../../support/run-here.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
let opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  project = await createTempProject({ 'lib/a.js': 'const a = 1;\nconst b = 2;\n' });
});
afterEach(async () => {
  for (const one of opened.toReversed()) await one.close();
  opened = [];
  await project.remove();
});

async function start(
  turns: readonly ApiTurn[],
  options: Parameters<typeof composed>[2] = {},
): Promise<Composed & { readonly server: ApiServer }> {
  // A provider reports how long the request is, which the estimate is calibrated with.
  const server = await startApiServer({
    turns: ({ raw }, index) => {
      const turn = turns[index] ?? says('done');
      const usage = { output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
      return turn.kind === 'reply' ? { ...turn, usage: { ...usage, input_tokens: Math.round(raw.length / 4) } } : turn;
    },
  });
  opened.push(server);
  const made = await composed(project, server.url, { model: 'claude-sonnet-4-6', ...options });
  opened.push(made);
  return { ...made, server };
}

/** About 57,000 tokens, more than a compaction keeps of the last turns. */
const LONG = 'word '.repeat(40_000);

type Block = { readonly type: string; readonly content?: string; readonly text?: string };

/** The blocks of the last message of a request. */
function lastBlocks(server: ApiServer, index: number): readonly Block[] {
  return JSON.parse(server.requests().at(index)?.raw ?? '').messages.at(-1).content;
}

const results = (server: ApiServer, index: number) =>
  lastBlocks(server, index).flatMap(({ type, content }) => (type === 'tool_result' ? [content] : []));

test('the text of a refusal reaches the model as the user’s words', async () => {
  const { conversation, server } = await start([calls(toolUse('Bash', { command: 'npm ci' }, 'toolu_1')), says('ok')], {
    frontend: 'screen',
  });
  conversation.agent.subscribe((event) => {
    if (event.type === 'permission_request')
      conversation.agent.answerPermission(event.request.id, { behavior: 'deny', message: 'use pnpm' });
  });
  const ends: unknown[] = [];
  conversation.agent.subscribe((event) => void (event.type === 'tool_end' && ends.push(event.denial)));
  await conversation.agent.prompt('Install.');
  expect(results(server, 1)).toEqual(['The user refused this call; nothing was run or changed. They say: use pnpm']);
  expect(ends).toEqual([{ by: 'user', reason: 'use pnpm' }]);
});

test('a file changed by a command is named in its result and needs no new Read', async () => {
  const file = `${project.dir}/lib/a.js`;
  const { conversation, server } = await start(
    [
      calls(toolUse('Read', { file_path: file }, 'toolu_1')),
      calls(toolUse('Bash', { command: "sed -i 's/1/3/' lib/a.js" }, 'toolu_2')),
      calls(toolUse('Edit', { file_path: file, old_string: 'a = 3', new_string: 'a = 4' }, 'toolu_3')),
      says('done'),
    ],
    { allowedTools: ['Bash(sed:*)', 'Edit'] },
  );
  conversation.agent.subscribe((event) => {
    if (event.type === 'permission_request')
      conversation.agent.answerPermission(event.request.id, { behavior: 'allow' });
  });
  await conversation.agent.prompt('Change it.');
  expect(results(server, 2)).toEqual(['(no output)\n[changed: lib/a.js +1 −1]']);
  expect(lastBlocks(server, 2)).toHaveLength(1);
  expect(await project.read('lib/a.js')).toBe('const a = 4;\nconst b = 2;\n');
});

test('changes by others come with their diff, and "unchanged" is reported only while the text is in the context', async () => {
  const file = `${project.dir}/lib/a.js`;
  const read = (id: string) => calls(toolUse('Read', { file_path: file }, id));
  const { conversation, server, command } = await start([
    read('toolu_1'),
    read('toolu_2'),
    says('read twice'),
    says('a long question'),
    says('fine'),
    says('<summary>We read a file.</summary>'),
    read('toolu_3'),
    says('read again'),
    says('seen'),
  ]);
  await conversation.agent.prompt('Read it twice.');
  const text = '1→const a = 1;\n2→const b = 2;';
  expect(results(server, 1)).toEqual([text]);
  expect(results(server, 2)).toEqual([
    'Unchanged: these lines stand above, in the result of your Read of this file 1 turn ago.',
  ]);
  await conversation.agent.prompt(`Explain it. ${LONG}`);
  await conversation.agent.prompt('Good?');
  expect(await command('compact')).toContain('Compacted');
  await conversation.agent.prompt('And again.');
  expect(results(server, 7)).toEqual([text]);
  await project.write('lib/a.js', 'const a = 1;\nconst b = 5;\n');
  await conversation.agent.prompt('Look.');
  expect(JSON.stringify(lastBlocks(server, 8))).toContain(
    'a.js has changed on disk since you last saw it. Work from how it is now. The difference:\\n@@ -1,2 +1,2 @@\\n const a = 1;\\n-const b = 2;\\n+const b = 5;',
  );
});

test('a compaction after a reply uses the cached prefix of the conversation', async () => {
  const { conversation, server, command } = await start([
    says('one'),
    says('two'),
    says('three'),
    says('<summary>We talked.</summary>'),
  ]);
  await conversation.agent.prompt(`First. ${LONG}`);
  await conversation.agent.prompt('Second.');
  await conversation.agent.prompt('Third.');
  expect(await command('compact')).toContain('Compacted');
  const [third, summary] = [2, 3].map((index) => JSON.parse(server.requests()[index]?.raw ?? ''));
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (key, field) => (key === 'cache_control' ? undefined : field)));
  expect(plain([summary.system, summary.tools, summary.messages.slice(0, 5)])).toEqual(
    plain([third.system, third.tools, third.messages]),
  );
  const isMarked = ({ content }: { content: readonly object[] }) => content.some((block) => 'cache_control' in block);
  expect(summary.messages.map(isMarked)).toEqual([false, false, true, false, true, false, false]);
});

longTest('an untrusted repository is not called a folder without one', async () => {
  await project.initGit();
  const server = await startApiServer({ turns: [says('ok')] });
  opened.push(server);
  expect(await runHere(project, ['-p', 'Hello.', '--permission-mode', 'acceptEdits'], server.url)).toMatchObject({
    code: 0,
  });
  const sent = server.requests()[0]?.raw ?? '';
  expect(sent).toContain('Git repository in a folder that is not trusted: its state was not read');
  expect(sent).not.toContain('commands still ask');
});

test('a run without a user has no question and plan tools, and states once what is allowed', async () => {
  const listTools = (index: number, server: ApiServer) =>
    JSON.parse(server.requests()[index]?.raw ?? '').tools.map(({ name }: { name: string }) => name);
  const rules = { frontend: 'print', allowedTools: ['Bash(npm test:*)'] } as const;
  const plain = await start([says('ok')], rules);
  await plain.conversation.agent.prompt('Hello.');
  expect(listTools(0, plain.server)).not.toContain('AskUserQuestion');
  expect(listTools(0, plain.server)).not.toContain('ExitPlanMode');
  expect(plain.server.requests()[0]?.raw).toContain(
    'Nobody can be asked. Allowed: reading in the workspace, Bash(npm test:*). Other calls are refused',
  );
  const planning = await start([says('ok')], { ...rules, permissionMode: 'plan' });
  await planning.conversation.agent.prompt('Plan.');
  expect(listTools(0, planning.server)).toContain('ExitPlanMode');
  expect(listTools(0, planning.server)).not.toContain('AskUserQuestion');
});
