import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectSession } from '../../../src/session/store/inspect-session.ts';
import { says } from '../../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../../support/api/server.ts';
import { runHere } from '../../support/run-here.ts';
import { storedFile, storedFiles } from '../../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject();
  server = await startApiServer({ turns: () => says('The walrus was Paul.') });
});

afterEach(async () => {
  await server.close();
  // Destroyed records cannot be replayed.
  await rm(join(project.ouroHome, 'projects'), { recursive: true, force: true });
  await project.remove();
});

const ouro = (...args: readonly string[]) => runHere(project, args, server.url);

/** Ways to lose every record of a file. */
const DAMAGES: readonly [string, (content: Buffer) => Buffer][] = [
  ['NUL bytes', (content) => Buffer.alloc(content.length)],
  ['random bytes', (content) => Buffer.from(content.map((byte, at) => (byte * 31 + at * 7) % 251))],
  ['the second half of each line', (content) => mapLines(content, (line) => line.slice(line.length / 2))],
  ['the beginning of each line', (content) => mapLines(content, (line) => line.slice(0, 30))],
  ['the beginning of each line, with its text,', (content) => mapLines(content, (line) => line.slice(0, -3))],
  ['text of another program', () => Buffer.from('<html>\n<body>404</body>\n</html>\n')],
];

function mapLines(content: Buffer, change: (line: string) => string): Buffer {
  return Buffer.from(content.toString('utf8').split('\n').map(change).join('\n'));
}

test.each(DAMAGES)('a session of which only %s is left is named everywhere', async (_, damage) => {
  await ouro('-p', 'hello');
  const { id, path } = await storedFile(project);
  await writeFile(path, damage(await readFile(path)));
  const named = `is damaged: none of its messages is readable. Run "ouro sessions check ${id}".`;
  for (const args of [
    ['-p', '-c', 'x'],
    ['-p', '-r', id, 'x'],
    ['sessions', 'show'],
    ['sessions', 'export', id],
  ])
    expect(await ouro(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining(named) });
  expect(await ouro('sessions', 'list')).toMatchObject({
    code: 0,
    stderr: `Damaged: ${id.slice(0, 8)}. Run "ouro sessions check".\n`,
  });
  expect(await ouro('-p', 'x', '--session-id', id)).toMatchObject({ code: 1, stderr: expect.stringContaining(id) });
  for (const args of [[], [id]]) {
    expect(await ouro('sessions', 'check', ...args)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(new RegExp(`^${id.slice(0, 8)}.*\\(0 records\\)`)),
    });
  }
  expect((await ouro('sessions', 'check', id, '--repair')).stdout).toContain(`moved to ${path}.damaged`);
  expect((await readdir(dirname(path))).filter((name) => name.includes(id))).toEqual([`${id}.jsonl.damaged`]);
  expect((await ouro('-p', '-c', 'x')).stderr).toContain('This folder has no session.');
});

test('an older session does not take the place of a damaged one, but can be resumed; deleting it helps', async () => {
  await ouro('-p', 'the old one');
  await ouro('-p', 'the new one');
  const files = await storedFiles(project);
  const damaged = files.find(({ records }) => JSON.stringify(records).includes('the new one'));
  await writeFile(damaged?.path ?? '', 'not a record\nof any kind\n');
  const before = server.requests().length;
  expect(await ouro('-p', '-c', 'x')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/The last session of this folder is damaged.* "ouro --resume" continues an earlier/),
  });
  expect(server.requests()).toHaveLength(before);
  expect(await ouro('-p', '-r', 'the old one', 'x')).toMatchObject({ code: 0 });
  expect(await ouro('sessions', 'delete', damaged?.id ?? '')).toMatchObject({ code: 0 });
  expect(await ouro('-p', '-c', 'x')).toMatchObject({ code: 0 });
});

test('a session of which only the middle is readable is resumed', async () => {
  await ouro('-p', `hello ${'x'.repeat(5_000)}`);
  await ouro('-p', '-c', `the middle ${'y'.repeat(40_000)}`);
  const { id, path } = await storedFile(project);
  const content = await readFile(path);
  await writeFile(path, content.fill(0, 0, 9_000).fill(0, content.length - 17_000));
  expect((await inspectSession(path)).state).toBe('readable');
  expect((await ouro('sessions', 'list')).stdout).toContain(id.slice(0, 8));
});

test('a session that was never prompted, and the start of a first line, are no damage', async () => {
  await ouro('-p', 'hello');
  const { path } = await storedFile(project);
  const [first = ''] = (await readFile(path, 'utf8')).split('\n');
  for (const content of ['', first.slice(0, 30), `${first}\n`]) {
    await writeFile(path, content);
    expect(await inspectSession(path)).toEqual({ state: 'empty' });
  }
  await mkdir(join(dirname(path), 'folder.jsonl'));
  expect(await inspectSession(join(dirname(path), 'folder.jsonl'))).toEqual({ state: 'empty' });
});

test.runIf(process.getuid?.() !== 0)('a session that may not be read is named with the reason', async () => {
  await ouro('-p', 'hello');
  const { id, path } = await storedFile(project);
  await chmod(path, 0);
  expect((await ouro('-p', '-c', 'x')).stderr).toMatch(/The last session of this folder cannot be read: EACCES/);
  expect(await ouro('sessions', 'check', id)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not readable'),
  });
});
