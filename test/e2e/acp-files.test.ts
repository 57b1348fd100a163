import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type ClientCapabilities, client, ndJsonStream } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { type ApiBlock, calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { startHere } from '../support/run-here.ts';
import { createTempProject } from '../support/temp-project.ts';
import { toWebStream } from '../support/web-stream.ts';

/** What the model was told of these calls by an editor in which a.txt is open with these unsaved words. */
async function inEditor(
  typed: string | Error,
  fs: ClientCapabilities['fs'],
  blocksIn: (file: string) => readonly ApiBlock[],
  saved = 'alpha\n',
  prompt = 'go',
  refusal?: string,
) {
  await using project = await createTempProject({ 'a.txt': saved });
  const file = join(project.dir, 'a.txt');
  const turns = [...blocksIn(file).map((block) => calls(block)), says('Done.')];
  await using server = await startApiServer({ turns });
  const child = startHere(['acp', '--permission-mode', 'acceptEdits'], {
    cwd: '/',
    env: bareEnvironment(project, server.url),
  });
  const written: string[] = [];
  let shown = typed;
  const { agent } = client({ name: 'editor' })
    .onNotification('session/update', () => undefined)
    .onRequest('fs/read_text_file', ({ params }) => {
      expect(params).toMatchObject({ sessionId, path: file });
      if (shown instanceof Error) throw shown;
      return { content: shown };
    })
    .onRequest('fs/write_text_file', async ({ params }) => {
      if (refusal !== undefined) return JSON.parse(refusal);
      written.push(params.content);
      shown = params.content;
      await writeFile(params.path, params.content);
      return {};
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), toWebStream(child.stdout)));
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: { fs } });
  const { sessionId } = await agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] });
  const disk = await readFile(file, 'utf8');
  const reported = server.requests().at(-1)?.raw ?? '';
  child.stdin.end();
  await child.ended;
  return { disk, written, reported };
}

const BOTH = { readTextFile: true, writeTextFile: true };
const read = (file: string) => toolUse('Read', { file_path: file }, 'toolu_1');
const edit = (file: string) =>
  toolUse('Edit', { file_path: file, old_string: 'typed', new_string: 'changed' }, 'toolu_2');

test('unsaved text is read, changed and saved by the editor', async () => {
  const { reported, disk, written } = await inEditor('alpha\ntyped\n', BOTH, (file) => [read(file), edit(file)]);
  expect(reported).toContain('2→typed');
  expect(written).toEqual(['alpha\nchanged\n']);
  expect(disk).toBe('alpha\nchanged\n');
});

longTest('a write that an editor answers with a reason has failed; one that it answers with null has not', async () => {
  const change = (refusal: string) =>
    inEditor('alpha\ntyped\n', BOTH, (file) => [read(file), edit(file)], 'alpha\n', 'go', refusal);
  const { reported, disk } = await change('"disk full"');
  expect(reported).toMatch(/The editor did not write .+a\.txt: disk full\./);
  expect(disk).toBe('alpha\n');
  expect((await change('null')).reported).not.toContain('The editor did not write');
});

longTest('an editor that only reads files leaves writing to ouro', async () => {
  const only = { readTextFile: true, writeTextFile: false };
  const { disk, written } = await inEditor('alpha\ntyped\n', only, (file) => [read(file), edit(file)]);
  expect({ disk, written }).toEqual({ disk: 'alpha\nchanged\n', written: [] });
});

longTest('a file unknown to the editor stays as it is on disk', async () => {
  for (const [typed, fs] of [
    [new Error('not open'), BOTH],
    ['alpha\ntyped\n', {}],
  ] as const) {
    const { reported } = await inEditor(typed, fs, (file) => [read(file)]);
    expect(reported).toContain('1→alpha');
    expect(reported).not.toContain('typed');
  }
});

longTest('different line endings are no change, and stay as in the file', async () => {
  const crlf = (file: string) =>
    toolUse('Edit', { file_path: file, old_string: 'typed', new_string: 'changed' }, 'toolu_2');
  const saved = 'alpha\r\ntyped\r\n';
  const { disk } = await inEditor('alpha\ntyped\n', BOTH, (file) => [read(file), crlf(file)], saved);
  expect(disk).toBe('alpha\r\nchanged\r\n');
});

longTest('a mentioned file is sent as it is in the editor', async () => {
  const { reported } = await inEditor('alpha\ntyped\n', BOTH, () => [], 'alpha\n', 'see @a.txt');
  expect(reported).toContain('2\\ttyped');
});
