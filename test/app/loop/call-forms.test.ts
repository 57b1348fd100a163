import { existsSync } from 'node:fs';
import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../../support/api/server.ts';
import { type Composed, composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;
let made: Composed;

beforeEach(async () => {
  project = await createTempProject({ 'lib/a.js': 'const a = 1;\nconst b = 2;\nconst c = 2;\n', '.env': 'KEY=abc\n' });
});

afterEach(async () => {
  await made.close();
  await server[Symbol.asyncDispose]();
  await project.remove();
});

/** Runs one prompt and answers every question with yes; returns the results of each request and the questions. */
async function run(turns: readonly (readonly [string, object])[], options: Parameters<typeof composed>[2] = {}) {
  const replies = turns.map(([name, input], index) => calls(toolUse(name, { ...input }, `toolu_${index}`)));
  server = await startApiServer({ turns: [...replies, says('done')] });
  made = await composed(project, server.url, { frontend: 'screen', ...options });
  const { conversation } = made;
  const questions: string[] = [];
  const hooked: string[] = [];
  conversation.agent.subscribe((event) => {
    if (event.type === 'tool_start') hooked.push(`${event.tool} ${JSON.stringify(event.input)}`);
    if (event.type !== 'permission_request') return;
    questions.push(event.request.title);
    conversation.agent.answerPermission(event.request.id, { behavior: 'allow' });
  });
  await conversation.agent.prompt('Go.');
  const results = server
    .requests()
    .slice(1)
    .map(({ raw }) => lastResult(raw));
  return { results, questions, hooked, sent: server.requests().at(-1)?.raw ?? '' };
}

function lastResult(raw: string): string {
  const blocks: readonly { readonly type: string; readonly content?: string }[] =
    JSON.parse(raw).messages.at(-1).content;
  return blocks.find(({ type }) => type === 'tool_result')?.content ?? '';
}

test('an edit that cannot apply fails without a question; one that applies is asked about', async () => {
  const edit = (old_string: string) => ['Edit', { file_path: 'lib/a.js', old_string, new_string: 'x' }] as const;
  const { results, questions } = await run([
    edit('const z = 1;'),
    edit(' = 2;'),
    ['Read', { file_path: 'lib/a.js' }],
    edit(' = 2;'),
    ['Write', { file_path: '.env', content: '' }],
    edit('const a = 1;'),
  ]);
  expect(results.map((text) => text.split('\n')[0])).toEqual([
    expect.stringContaining('has not been read in this session, and old_string does not name exactly one part of it'),
    expect.stringContaining('has not been read in this session, and old_string does not name exactly one part of it'),
    '1→const a = 1;',
    expect.stringContaining('old_string occurs 2 times'),
    expect.stringContaining('Read it first'),
    expect.stringContaining('Replaced 1 occurrence'),
  ]);
  expect(questions).toEqual(['Edit lib/a.js']);
  expect(await project.read('lib/a.js')).toBe('x\nconst b = 2;\nconst c = 2;\n');
});

test('rules, questions and events see the normalized tool and arguments of a call; the history keeps the original', async () => {
  const { results, questions, hooked, sent } = await run(
    [
      ['shell', { command: ['bash', '-lc', 'rm -rf lib'] }],
      ['BASH', { cmd: 'rm -rf lib' }],
      ['exec_command', { cmd: 'rm -rf lib', workdir: '.' }],
      ['read_file', { path: '.env' }],
      ['str_replace_based_edit_tool', { command: 'view', path: 'lib/a.js', view_range: [1, 1] }],
    ],
    { disallowedTools: ['Bash(rm:*)', 'Read(.env)'] },
  );
  for (const text of results.slice(0, 4)) expect(text).toContain('was not run');
  expect(results[4]).toContain('1→const a = 1;');
  expect(questions).toEqual([]);
  expect(hooked).toEqual([
    'Bash {"command":"rm -rf lib"}',
    'Bash {"command":"rm -rf lib"}',
    'Bash {"command":"rm -rf lib"}',
    'Read {"file_path":".env"}',
    'Read {"file_path":"lib/a.js","offset":1,"limit":1}',
  ]);
  const past = (await made.conversation.pastTurns?.loadLatest(5)) ?? [];
  expect(past.flatMap(({ event }) => (event.type === 'tool_start' ? [event.tool] : []))).toEqual([
    ...['Bash', 'Bash', 'Bash', 'Read', 'Read'],
  ]);
  expect(sent).toContain('"name":"shell","input":{"command":["bash","-lc","rm -rf lib"]}');
});

const patchOf = (...lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const EDIT_OF_A = ['*** Update File: lib/a.js', '@@', ' const a = 1;', '-const b = 2;', '+const b = 3;'];

test('a patch is run as calls of Edit, Write and Bash, each with its own rules and questions', async () => {
  const patch = patchOf(...EDIT_OF_A, '*** Add File: lib/new.js', '+export {};');
  const moved = patchOf(
    '*** Update File: lib/new.js',
    '*** Move to: moved.js',
    '@@',
    '-export {};',
    '+export default 1;',
  );
  const command = ['bash', '-lc', `apply_patch <<'EOF'\n${moved}\nEOF`];
  const { results, questions } = await run([
    ['apply_patch', { input: patch }],
    ['shell', { command }],
  ]);
  expect(results[0]).toMatch(/^Replaced 1 occurrence in .*a\.js \(line 1\)\.\nCreated .*new\.js \(1 line\)\.$/);
  expect(results[1]).toMatch(/^Replaced 1 occurrence in .*new\.js/);
  expect(questions).toEqual(['Edit lib/a.js', 'Write lib/new.js', 'Edit lib/new.js', 'mv -- lib/new.js moved.js']);
  expect(await project.read('lib/a.js')).toBe('const a = 1;\nconst b = 3;\nconst c = 2;\n');
  expect(await project.read('moved.js')).toBe('export default 1;\n');
  expect(await made.command('rewind')).not.toBe('');
});

test('a patch of which one part is denied, or cannot apply, changes nothing', async () => {
  const denied = patchOf(...EDIT_OF_A, '*** Delete File: .env', '*** Add File: never.js', '+1');
  const stale = patchOf(...EDIT_OF_A, '*** Update File: .env', '@@', '-KEY=xyz', '+KEY=new');
  const { results } = await run(
    [
      ['apply_patch', { input: denied }],
      ['apply_patch', { input: stale }],
    ],
    { disallowedTools: ['Bash(rm:*)'], permissionMode: 'acceptEdits' },
  );
  expect(results[0]).toMatch(/was not run.*\nNothing was changed: no part of the call was made\.$/s);
  expect(results[1]).toContain('old_string does not name exactly one part of it');
  expect(await project.read('lib/a.js')).toBe('const a = 1;\nconst b = 2;\nconst c = 2;\n');
  expect(await project.read('.env')).toBe('KEY=abc\n');
  expect(existsSync(join(project.dir, 'never.js'))).toBe(false);
});

test('the files of a patch stay locked from its first part to its last', async () => {
  const script = `#!/bin/sh\nls '${project.ouroHome}/locks' | grep -c lock >> '${project.dir}/locks'\n`;
  await chmod(await project.write('../list-locks', script), 0o755);
  const hooks = { PostToolUse: [{ hooks: [{ type: 'command', command: `"${join(project.dir, '../list-locks')}"` }] }] };
  await project.write('../home/.ouro/settings.json', JSON.stringify({ hooks }));
  const patch = patchOf(...EDIT_OF_A, '*** Add File: lib/new.js', '+1', '*** Delete File: .env');
  const { results } = await run([['apply_patch', { input: patch }]]);
  expect(results[0]).toContain('Created');
  expect(await project.read('locks')).toBe('3\n3\n3\n');
  expect(await readdir(join(project.ouroHome, 'locks'))).toEqual([]);
});

longTest(
  'a part that fails undoes the parts before it: edits, new, moved and deleted files with their modes',
  async () => {
    await project.write('run.sh', 'echo\n');
    await chmod(join(project.dir, 'run.sh'), 0o755);
    await project.write('old.js', 'old\n');
    const patch = patchOf(
      ...EDIT_OF_A,
      ...['*** Add File: lib/new.js', '+1', '*** Delete File: run.sh'],
      ...['*** Update File: old.js', '*** Move to: moved.js', '@@', '-old', '+new'],
      ...['*** Add File: lib/a.js/below.js', '+1'],
    );
    const edit = { file_path: 'lib/a.js', old_string: 'const b = 2;', new_string: 'const b = 4;' };
    const { results } = await run([
      ['Read', { file_path: 'lib/a.js' }],
      ['apply_patch', { input: patch }],
      ['Edit', edit],
    ]);
    expect(results[1]).toMatch(/below\.js.*\nAll earlier parts of the call were undone: nothing is changed\.$/s);
    expect(results[2]).toContain('Replaced 1 occurrence');
    expect(await project.read('lib/a.js')).toBe('const a = 1;\nconst b = 4;\nconst c = 2;\n');
    expect(await project.read('old.js')).toBe('old\n');
    expect((await stat(join(project.dir, 'run.sh'))).mode & 0o777).toBe(0o755);
    expect(['lib/new.js', 'moved.js'].filter((name) => existsSync(join(project.dir, name)))).toEqual([]);
  },
);

test('a file shown by a command or a search may be overwritten, any other may not', async () => {
  await project.write('lib/b.js', 'let b;\n');
  await project.write('lib/c.js', 'let c;\n');
  const write = (file_path: string) => ['Write', { file_path, content: 'new\n' }] as const;
  const { results } = await run([
    ['Bash', { command: 'cat lib/a.js' }],
    ['Grep', { pattern: 'let b', path: 'lib', output_mode: 'content' }],
    write('lib/a.js'),
    write('lib/b.js'),
    write('lib/c.js'),
  ]);
  expect(results.slice(2, 5).map((text) => /^Replaced|\S+\.js/.exec(text)?.[0])).toEqual([
    'Replaced',
    'Replaced',
    expect.stringContaining('c.js'),
  ]);
  expect(results[4]).toContain('Read it first');
});
