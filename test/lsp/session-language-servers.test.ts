import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import type { PermissionRequest } from '../../src/contracts/permission.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const STUB = join(import.meta.dirname, '../support/lsp-stub.mjs');

/** Has the model write a wrong file, and returns its first two requests. */
async function writeWrongFile(project: TempProject, name: string, ...flags: readonly string[]) {
  const write = toolUse('Write', { file_path: join(project.dir, name), content: 'good\nbad\n' });
  await using api = await startApiServer({ turns: [calls(write), says('Done.')] });
  await runHere(project, ['-p', 'go', '--permission-mode', 'acceptEdits', ...flags], api.url);
  const [first, second] = api.requests();
  return { first: first?.raw ?? '', second: second?.raw ?? '' };
}

const WORDS = { command: process.execPath, args: [STUB], extensionToLanguage: { '.word': 'words' } };

type Call = readonly [string, JsonObject];

/** A conversation with the server, whose model makes these calls, a list for each reply. */
async function composeWithServer(project: TempProject, replies: readonly (readonly Call[])[]) {
  await project.write('../home/.ouro/settings.json', JSON.stringify({ languageServers: { words: WORDS } }));
  const turns = replies.map((blocks, turn) =>
    calls(...blocks.map(([tool, input], index) => toolUse(tool, input, `toolu_${turn}_${index}`))),
  );
  const api = await startApiServer({ turns: [...turns, says('Done.')] });
  const made = await composed(project, api.url, { frontend: 'screen' });
  return {
    ...made,
    api,
    async [Symbol.asyncDispose]() {
      await made.close();
      await api[Symbol.asyncDispose]();
    },
  };
}

const FILES = { 'a.word': 'def one\n', 'b.word': 'good\nuse one bad\n' };
const RENAME = { operation: 'rename', file_path: 'a.word', line: 1, character: 5, new_name: 'two' };

test('a rename asks once about all of its files, shows its changes, and can be undone', async () => {
  await using project = await createTempProject(FILES);
  await using made = await composeWithServer(project, [
    [['Read', { file_path: 'a.word' }]],
    [['Read', { file_path: 'b.word' }]],
    [['LSP', RENAME]],
  ]);
  const asked: PermissionRequest[] = [];
  made.conversation.agent.subscribe((event) => {
    if (event.type !== 'permission_request') return;
    asked.push(event.request);
    void made.conversation.agent.answerPermission(event.request.id, { behavior: 'allow' });
  });
  await made.conversation.agent.prompt('go');
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({
    facts: { kind: 'edit', writes: [join(project.dir, 'a.word'), join(project.dir, 'b.word')] },
    preview: {
      kind: 'diff',
      added: 2,
      removed: 2,
      hunks: [
        { path: join(project.dir, 'a.word'), newStart: 1, lines: [{ text: 'def one' }, { text: 'def two' }] },
        { path: join(project.dir, 'b.word'), newStart: 2, lines: [{ text: 'use one bad' }, { text: 'use two bad' }] },
      ],
    },
  });
  expect(await project.read('a.word')).toBe('def two\n');
  expect(await project.read('b.word')).toBe('good\nuse two bad\n');
  expect(made.api.requests().at(-1)?.raw).toContain('Changed 2 files:');
  await made.command('undo');
  expect(await project.read('a.word')).toBe(FILES['a.word']);
  expect(await project.read('b.word')).toBe(FILES['b.word']);
});

test('a rename is refused by a rule about one of its files, and changes none', async () => {
  await using project = await createTempProject({
    ...FILES,
    '.claude/settings.json': JSON.stringify({ permissions: { deny: ['Edit(b.word)'] } }),
  });
  await using made = await composeWithServer(project, [
    [['Read', { file_path: 'b.word' }]],
    [['LSP', RENAME]],
    [['LSP', { ...RENAME, new_name: 'file' }]],
  ]);
  await made.conversation.agent.prompt('go');
  expect(await project.read('a.word')).toBe(FILES['a.word']);
  expect(made.api.requests()[2]?.raw).toMatch(/Edit\(b\.word\)/);
  expect(made.api.requests()[3]?.raw).toContain('the rename also renames, creates or deletes files');
});

test('the present diagnostics are listed on request', async () => {
  await using project = await createTempProject(FILES);
  await using made = await composeWithServer(project, [
    ['b.word', 'a.word', 'a.txt'].map((file): Call => ['Diagnostics', { file_path: file }]),
  ]);
  await made.conversation.agent.prompt('go');
  expect(made.api.requests().at(-1)?.body.messages?.at(-1)).toMatchObject({
    content: [
      { content: expect.stringContaining('b.word:2:9 error: The word') },
      { content: expect.stringContaining('No errors or warnings.') },
      { content: expect.stringContaining('There are no diagnostics: no language server checks this file.') },
    ],
  });
});

/** The sandbox of programs of the project shows the runtime of the stub. */
const PROGRAMS_ON = {
  projectPrograms: true,
  permissions: { allow: [`Read(/${dirname(process.execPath)}/**)`, `Read(/${dirname(STUB)}/**)`] },
};

async function installServer(project: TempProject): Promise<void> {
  const script = `#!/bin/sh\nexec '${process.execPath}' '${STUB}'\n`;
  await chmod(await project.write('node_modules/.bin/typescript-language-server', script), 0o755);
}

test('a server of the settings tells the errors of an edit with the next request', async () => {
  await using project = await createTempProject();
  const words = { command: process.execPath, args: [STUB], extensionToLanguage: { '.word': 'words' } };
  await project.write('../home/.ouro/settings.json', JSON.stringify({ languageServers: { words } }));
  const { second } = await writeWrongFile(project, 'a.word', '--trust');
  expect(second).toContain('The language server words finds since the last changes:\\na.word:2:1 error');
});

test('an installed server of the project is used in a trusted folder, and offered by name only', async () => {
  await using project = await createTempProject();
  await installServer(project);
  await project.write('../home/.ouro/settings.json', JSON.stringify(PROGRAMS_ON));
  const { first, second } = await writeWrongFile(project, 'a.ts', '--trust');
  expect(first).toMatch(/Known by name: [^"]*\bLSP\b/);
  expect(first).not.toContain('"name":"LSP"');
  expect(second).toContain('The language server typescript finds since the last changes:\\na.ts:2:1 error');
});

test.each(
  someOf([
    ['the folder is not trusted', {}, []],
    ['the folder is not trusted, and programs are on', { projectPrograms: true }, []],
    ['it is in the project', {}, ['--trust']],
    ['the settings disable it', { projectPrograms: true, languageServers: { typescript: false } }, ['--trust']],
  ]),
)('an installed server is not used if %s', async (_, settings, flags) => {
  await using project = await createTempProject();
  await installServer(project);
  await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  const { first, second } = await writeWrongFile(project, 'a.ts', ...flags);
  expect(first).toContain('Known by name');
  expect(first).not.toMatch(/Known by name: [^"]*\bLSP\b/);
  expect(second).toContain('"tool_result"');
  expect(second).not.toContain('The language server');
});

test.skipIf(NO_SANDBOX !== undefined)(
  'a server of the project starts as it was approved, and cannot write in its sandbox',
  async () => {
    await using project = await createTempProject();
    const evil = [`../evil`, 'inside', '../home/evil'].map((name) => join(project.dir, name));
    const touch = evil.map((file) => `touch '${file}' 2>/dev/null`).join('\n');
    const script = `#!/bin/sh\n${touch}\nexec '${process.execPath}' '${project.dir}/stub.mjs'\n`;
    await project.write('stub.mjs', await readFile(STUB, 'utf8'));
    const program = await project.write('node_modules/.bin/typescript-language-server', script);
    await chmod(program, 0o755);
    await project.write('../home/.ouro/settings.json', JSON.stringify(PROGRAMS_ON));
    const { second } = await writeWrongFile(project, 'a.ts', '--trust');
    expect(second).toContain('The language server typescript finds');
    expect(evil.filter((file) => existsSync(file))).toEqual([]);
  },
);

test('a server of the project that a command replaced does not start', async () => {
  await using project = await createTempProject();
  await installServer(project);
  await project.write('../home/.ouro/settings.json', JSON.stringify(PROGRAMS_ON));
  const settled = await runHere(project, ['trust'], 'http://127.0.0.1:9');
  expect(settled.stdout).toContain('runs node_modules/.bin/typescript-language-server as it is now');
  const evil = join(project.dir, '../evil');
  await project.write('node_modules/.bin/typescript-language-server', `#!/bin/sh\ntouch '${evil}'\n`);
  const { second } = await writeWrongFile(project, 'a.ts');
  expect(second).not.toContain('The language server');
  expect(existsSync(evil)).toBe(false);
});
