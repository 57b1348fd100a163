import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createConversation } from '../../../src/app/compose.ts';
import { readEnvironment } from '../../../src/app/environment.ts';
import { createStoredSessionsPort } from '../../../src/app/session/stored-sessions.ts';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { CliRunOptions } from '../../../src/contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../src/contracts/frontend/conversation.ts';
import { picture } from '../../checkpoints/disk-picture.ts';
import { calls, hang, says, status, toolUse } from '../../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../../support/api/server.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { longTest } from '../../support/long-test.ts';
import { runOptions } from '../../support/run-options.ts';
import { someOf } from '../../support/runs.ts';
import { replayAll, storedFile, storedFiles } from '../../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;
let opened: Conversation[];

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
  opened = [];
});

afterEach(async () => {
  for (const conversation of opened) await conversation.close('test');
  await server?.close();
  await project.remove();
});

async function open(
  script: Script,
  more: Partial<CliRunOptions> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Conversation> {
  await server?.close();
  server = await startApiServer(script);
  const environment = readEnvironment({ ...bareEnvironment(project, server.url), IS_SANDBOX: '1', ...env });
  const asked: Partial<CliRunOptions> = {
    cwd: project.dir,
    frontend: 'screen',
    persistence: 'disk',
    trust: 'this-run',
    skipPermissions: 'now',
  };
  const options = runOptions({ ...asked, ...more });
  const composed = await createConversation(options, environment);
  if (!composed.ok) throw new Error(composed.problem);
  opened.push(composed.conversation);
  return composed.conversation;
}

const named =
  (title: string): Script['side'] =>
  (request) =>
    request.raw.includes('Name this conversation') ? says(title) : undefined;

const write = (content: string) => calls(toolUse('Write', { file_path: 'new.txt', content }));

test('a rewind restores the conversation, the files or both, and later messages replay identically', async () => {
  const conversation = await open({ turns: (_, index) => (index % 2 === 0 ? write(`v${index}`) : says('done')) });
  const states = [];
  for (const words of ['first', 'second', 'third']) {
    states.push(await picture(project.dir));
    await conversation.agent.prompt(words);
  }
  const points = await conversation.checkpoints();
  expect(points.map(({ prompt, files }) => [prompt, files])).toEqual([
    ['first', 1],
    ['second', 1],
    ['third', 1],
  ]);
  const [first, second, third] = points.map(({ id }) => id);
  expect(await conversation.rewind(third ?? '', 'files')).toMatchObject({ ok: true, prompt: 'third' });
  expect(await picture(project.dir)).toEqual(states[2]);
  expect(conversation.agent.state().messages).toHaveLength(12);
  expect(await conversation.rewind(second ?? '', 'conversation')).toMatchObject({ ok: true, restored: [] });
  expect(conversation.agent.state().messages).toHaveLength(4);
  expect((await conversation.checkpoints()).map(({ prompt }) => prompt)).toEqual(['first']);
  await conversation.agent.prompt('instead');
  expect(JSON.stringify(server.requests().at(-1)?.body.messages)).not.toContain('second');
  await conversation.rewind(first ?? '', 'both');
  expect(await picture(project.dir)).toEqual(states[0]);
  expect(conversation.agent.state().messages).toEqual([]);
  expect(await conversation.rewind('no such id', 'both')).toMatchObject({ ok: false });
  expect(await replayAll(project)).toMatchObject({ different: [] });
});

longTest('a rewind is work of its own: prompts wait for it, and an abort stops it between files', async () => {
  const conversation = await open({ turns: [write('one'), says('done'), says('later')] });
  const { agent } = conversation;
  await agent.prompt('make it');
  const [point] = await conversation.checkpoints();
  let interrupt = () => agent.abort();
  agent.subscribe((event) => {
    if (event.type === 'status' && event.status === 'restoring') interrupt();
  });
  expect(await conversation.rewind(point?.id ?? '', 'both')).toMatchObject({ ok: true, canRetry: true, removed: [] });
  expect(agent.state()).toMatchObject({ status: 'idle', messages: { length: 4 } });
  interrupt = () => void agent.followUp('instead');
  expect(await conversation.rewind(point?.id ?? '', 'both')).toMatchObject({ ok: true, canRetry: false });
  await agent.waitForIdle();
  expect(Object.keys(await picture(project.dir))).toEqual(['a.txt']);
  expect(JSON.stringify(server.requests().at(-1)?.body.messages)).not.toContain('make it');
  expect(agent.state().messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('/undo and a resume share the same checkpoints', async () => {
  const conversation = await open({ turns: [write('one'), says('done'), says('only words')] });
  await conversation.agent.prompt('make it');
  await conversation.agent.prompt('talk');
  await conversation.close('test');
  const { id } = await storedFile(project);
  const again = await open({ turns: [] }, { session: { kind: 'resume', wanted: id, fork: 'same' } });
  expect((await again.checkpoints()).map(({ prompt }) => prompt)).toEqual(['make it', 'talk']);
  expect(await again.runCommand('undo')).toMatchObject({
    kind: 'show',
    markdown: expect.stringMatching(/make it[\s\S]*Removed:[\s\S]*new\.txt/),
  });
  expect(Object.keys(await picture(project.dir))).toEqual(['a.txt']);
  expect(await again.runCommand('undo')).toMatchObject({ kind: 'failed' });
});

longTest('a command run by the user is undone separately', async () => {
  const conversation = await open({ turns: [write('one'), says('done')] });
  await conversation.agent.prompt('make it');
  await conversation.runShell('rm new.txt; echo two > a.txt');
  expect((await conversation.checkpoints()).map(({ prompt, files }) => [prompt, files])).toEqual([
    ['make it', 1],
    ['! rm new.txt; echo two > a.txt', 2],
  ]);
  const { lines } = conversation.usage();
  expect(await conversation.runCommand('undo')).toMatchObject({ kind: 'show' });
  // Counted are the files that came back, as an undo of edits would be.
  expect(conversation.usage().lines).toEqual({ added: lines.added - 1, removed: lines.removed - 2 });
  expect(await project.read('new.txt')).toBe('one');
  expect(await project.read('a.txt')).toBe('alpha\n');
});

longTest('removed messages are no rewind target and unknown after a resume', async () => {
  const conversation = await open({ turns: [says('one'), status(401), says('two')] });
  const { agent } = conversation;
  for (const words of ['first', 'wrng']) await agent.prompt(words);
  await agent.withdraw(agent.state().messages.at(-1)?.id ?? '');
  await agent.prompt('right');
  expect((await conversation.checkpoints()).map(({ prompt }) => prompt)).toEqual(['first', 'right']);
  const { messages } = agent.state();
  await conversation.close('test');
  const again = await open({ turns: [] }, { session: { kind: 'continue', fork: 'same' } });
  expect(again.agent.state().messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
});

longTest(
  'an abort reaches a command run by the user, when idle and during a query; when idle, prompts wait for it',
  async () => {
    const conversation = await open({ turns: [says('one'), says('two'), hang()] });
    const { agent } = conversation;
    const seen: AgentEvent[] = [];
    agent.subscribe((event) => void seen.push(event));
    const started = async () => expect.poll(() => seen.some(({ type }) => type === 'tool_update')).toBe(true);
    await agent.prompt('begin');
    seen.length = 0;
    const first = conversation.runShell('echo begun; sleep 60');
    await started();
    expect(agent.state().status).toBe('running_tools');
    agent.followUp('and then?');
    agent.abort();
    await first;
    await expect.poll(() => agent.state().messages.length).toBe(5);
    await agent.waitForIdle();
    expect(agent.state().messages.map((message) => message.role === 'user' && message.origin)).toEqual([
      ...['prompt', false],
      ...['shell', 'follow_up', false],
    ]);
    const running = agent.prompt('go on');
    seen.length = 0;
    const beside = conversation.runShell('echo begun; sleep 60');
    await started();
    agent.abort();
    await Promise.all([running, beside]);
    expect(seen.flatMap((event) => (event.type === 'tool_end' ? [event.status] : []))).toEqual(['interrupted']);
  },
);

test('the small model names a session, and a name given by the user stays', async () => {
  const conversation = await open({ turns: () => says('It is 42.'), side: named('"The answer, found."\nmore') });
  await conversation.agent.prompt('what is it?');
  await expect.poll(() => conversation.info().title).toBe('The answer, found');
  await conversation.rename('mine');
  await conversation.agent.prompt('sure?');
  expect(conversation.info().title).toBe('mine');
  await conversation.close('test');
  const picker = createStoredSessionsPort(
    readEnvironment(bareEnvironment(project)),
    project.dir,
    'another',
    async () => undefined,
  );
  expect(await picker.list('folder')).toMatchObject([
    { label: 'mine', detail: expect.stringContaining('what is it?') },
  ]);
  conversation.draft.save({ text: 'one thing\nmore', caret: 3, pastes: [], queue: [] });
  await expect
    .poll(() => picker.list('folder'))
    .toMatchObject([
      { label: 'mine', detail: expect.stringMatching(/^now, 2 turns, <?\$[\d.]+, draft: one thing more$/) },
    ]);
});

longTest('the picker lists, searches, previews, renames and deletes other sessions', async () => {
  await project.initGit();
  for (const words of ['about whales', 'about walruses']) {
    await project.git('checkout', '-q', '-B', words.replace(' ', '/'));
    const one = await open({ turns: () => says(`I know much ${words}.`) });
    await one.agent.prompt(words);
    await one.close('test');
  }
  const conversation = await open({ turns: [] });
  const picker = conversation.storedSessions;
  const list = (await picker?.list('folder')) ?? [];
  expect(list.map(({ label }) => label).toSorted()).toEqual(['about walruses', 'about whales']);
  expect((await picker?.list('branch'))?.map(({ label }) => label)).toEqual(['about walruses']);
  const found = [];
  for await (const one of picker?.search('MUCH about', 'branch', new AbortController().signal) ?? []) found.push(one);
  expect(found.splice(0)).toMatchObject([{ label: 'about walruses' }]);
  for await (const one of picker?.search('MUCH about walrus', 'all', new AbortController().signal) ?? [])
    found.push(one);
  expect(found).toMatchObject([{ label: 'about walruses', detail: 'ouro: I know much about walruses.' }]);
  const id = found[0]?.id ?? '';
  expect(await picker?.preview(id)).toBe('> about walruses\n\nI know much about walruses.');
  expect(await picker?.rename(id, 'tusks')).toBeUndefined();
  expect((await picker?.list('all'))?.map(({ label }) => label)).toContain('tusks');
  expect(await picker?.remove(id)).toBeUndefined();
  expect(await storedFiles(project)).toHaveLength(1);
});

longTest('the last session of a folder summarizes all its runs', async () => {
  const about = { turns: [write('one\ntwo\n'), says('done'), says('only words')] };
  const first = await open(about);
  expect(await first.storedSessions?.last()).toBeUndefined();
  await first.agent.prompt('make it');
  await first.agent.prompt('talk');
  await first.close('test');
  const { id } = await storedFile(project);
  const session = { kind: 'resume', wanted: id, fork: 'same' } as const;
  // What a result holds is no count of ours.
  const noise = calls(toolUse('Bash', { command: `echo '{"worked":{"turns":9,"added":9,"removed":9}}'` }));
  const again = await open({ turns: [write('one\n'), noise, says('done')] }, { session });
  expect(await again.storedSessions?.last()).toBeUndefined();
  await again.agent.prompt('less of it');
  await again.close('test');
  const next = await open({ turns: [] });
  const { added = 0, removed = 0 } = again.usage().lines;
  expect(added + removed).toBeGreaterThan(0);
  expect(await next.storedSessions?.last()).toMatchObject({
    title: 'make it',
    worked: { turns: 3, added: 2 + added, removed },
  });
  const [row] = (await next.storedSessions?.list('folder')) ?? [];
  expect(row?.detail).toMatch(new RegExp(`^now, 3 turns, \\+${2 + added} -${removed}, <?\\$\\d`));
  expect(again.info().earlierWork).toEqual({ turns: 2, added: 2, removed: 0 });
});

test('messages queued when ouro was killed are delivered once after the resume', async () => {
  const conversation = await open({ turns: () => says('ok') });
  await conversation.agent.prompt('one');
  conversation.agent.followUp('do not forget me');
  await conversation.agent.waitForIdle();
  await conversation.close('test');
  const { id } = await storedFile(project);
  const session = { kind: 'resume', wanted: id, fork: 'same' } as const;
  const again = await open({ turns: () => says('ok') }, { session });
  expect(again.agent.state().queue).toHaveLength(1);
  await again.agent.prompt('two');
  expect(server.requests().at(-1)?.raw.split('do not forget me')).toHaveLength(2);
  await again.close('test');
  expect((await open({ turns: [] }, { session })).agent.state().queue).toEqual([]);
});

test('session permissions, the mode, the to-do list and the plan are restored', async () => {
  const todos = [{ content: 'one', status: 'in_progress', activeForm: 'Doing one' }];
  const touch = calls(toolUse('Bash', { command: 'node -e 0' }));
  const asking = { skipPermissions: 'may' } as const;
  const first = await open({ turns: [calls(toolUse('TodoWrite', { todos })), touch, says('done')] }, asking);
  first.agent.subscribe((event) => {
    if (event.type !== 'permission_request') return;
    const remember = { rules: ['Bash(node -e 0)'], destination: 'session' } as const;
    first.agent.answerPermission(event.request.id, { behavior: 'allow', remember });
  });
  await first.agent.prompt('go');
  first.setMode('plan');
  first.setMode('acceptEdits');
  first.setEffort('low');
  await first.close('test');
  const { id } = await storedFile(project);
  const session = { kind: 'resume', wanted: id, fork: 'same' } as const;
  const again = await open({ turns: [touch, says('done')] }, { ...asking, session });
  const asked: string[] = [];
  again.agent.subscribe((event) => {
    if (event.type === 'permission_request') asked.push(event.request.title);
  });
  expect(again.info()).toMatchObject({ mode: 'acceptEdits', effort: 'low', todos });
  await again.agent.prompt('again');
  expect(asked).toEqual([]);
});

test('a copy of a session has its mode, but a line of another session gives none', async () => {
  const may = { skipPermissions: 'may' } as const;
  const resume = (wanted: string, fork: 'fork' | 'same' = 'same') =>
    open({ turns: () => says('done') }, { ...may, session: { kind: 'resume', wanted, fork } });
  const first = await open({ turns: () => says('done') }, may);
  await first.agent.prompt('go');
  first.setMode('acceptEdits');
  await first.runCommand('branch');
  await first.close('test');
  const [one, two] = await storedFiles(project);
  if (one === undefined || two === undefined) throw new Error('/branch has stored no session.');
  const fork = await resume(two.id, 'fork');
  const [again, branch] = [await resume(one.id), await resume(two.id)];
  const modes = [again, branch, fork].map((conversation) => conversation.info().mode);
  expect(modes).toEqual(['acceptEdits', 'acceptEdits', 'acceptEdits']);
  expect(
    [again, branch, fork].flatMap((conversation) =>
      conversation.info().warnings.filter((text) => text.includes('restored')),
    ),
  ).toEqual([]);

  const other = await open({ turns: () => says('done') }, may);
  await other.agent.prompt('go');
  const { sessionId } = other.agent;
  await other.close('test');
  const files = await storedFiles(project);
  const sealed = files.flatMap(({ records }) => records).filter((record) => JSON.stringify(record).includes('"seal"'));
  const path = files.find(({ id }) => id === sessionId)?.path ?? '';
  await appendFile(path, sealed.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const spliced = await resume(sessionId);
  expect([sealed.length >= 3, spliced.info().mode]).toEqual([true, 'default']);
  expect(spliced.info().warnings.join()).toContain('They are not restored');
});

type Damage = (lines: readonly string[]) => string;

const isResult = (line: string) => line.includes('"type":"result"');
const each =
  (change: (line: string, at: number) => string): Damage =>
  (lines) =>
    lines.map(change).join('');

test.each<[string, Damage, RegExp]>(
  someOf(
    [
      [
        'a torn line',
        (lines) => [...lines.slice(0, -1), '{"v":1,"type":"future","uu\n', ...lines.slice(-1)].join(''),
        /1 unreadable/,
      ],
      ['joined lines', each((line) => (isResult(line) ? line.trimEnd() : line)), /1 repaired/],
      ['NUL bytes', each((line, at) => (at === 4 ? `\0\0\0${line}` : line)), /1 repaired/],
      ['doubled lines', each((line) => (isResult(line) ? line + line : line)), /1 duplicate/],
      ['CRLF endings', each((line) => line.replace('\n', '\r\n')), /repaired/],
      [
        'lines of a newer ouro',
        (lines) => [...lines, '{"v":2,"type":"from-the-future","uuid":"f","version":"9.0.0","thing":1}\n'].join(''),
        /newer ouro \(9\.0\.0\)/,
      ],
      ['a BOM', (lines) => `\uFEFF${lines.join('')}`, /1 repaired/],
    ],
    2,
  ),
)('a session with %s is opened, reported, and continues', async (_, damage, reported) => {
  const first = await open({ turns: (_request, index) => (index === 0 ? write('x') : says('done')) });
  await first.agent.prompt('make it');
  await first.close('test');
  const { id, path } = await storedFile(project);
  const lines = (await readFile(path, 'utf8')).split(/(?<=\n)/);
  await writeFile(path, damage(lines));
  const again = await open({ turns: () => says('fine') }, { session: { kind: 'resume', wanted: id, fork: 'same' } });
  expect(again.info().warnings.join()).toMatch(reported);
  expect(again.agent.state().messages).toEqual(
    first.agent.state().messages.map((message) => expect.objectContaining({ id: message.id })),
  );
  expect(await again.agent.prompt('and on')).toMatchObject({ reason: 'completed' });
  expect(server.requests()[0]?.violation).toBeUndefined();
});

longTest('an unwritable session store is reported once, and work continues', async () => {
  const file = await project.write('not-a-folder', '');
  const conversation = await open({ turns: [write('x'), says('done')] }, {}, { OURO_HOME: join(file, 'home') });
  const reported: string[] = [];
  conversation.agent.subscribe((event) => {
    if (event.type === 'notice' && event.level === 'error') reported.push(event.text);
  });
  expect(await conversation.agent.prompt('go')).toMatchObject({ reason: 'completed' });
  expect(reported).toEqual([expect.stringMatching(/could not be saved.*keeps trying/)]);
  expect((await conversation.runCommand('status')).kind).toBe('show');
  expect(await project.read('new.txt')).toBe('x');
  await Promise.all(opened.splice(0).map((one) => one.close('test')));
  // Unsaved lines wait there for a later start.
  await rm(join(tmpdir(), `ouro-unsaved-${process.getuid?.() ?? 'user'}`), { recursive: true });
  await rm(file);
});

longTest('a refused open releases its lock: the session can be opened by the next', async () => {
  const first = await open({ turns: () => says('ok') });
  await first.agent.prompt('one');
  await first.close('test');
  const { id } = await storedFile(project);
  const session = { kind: 'resume', wanted: id, fork: 'same' } as const;
  await expect(open({ turns: [] }, { session, permissionMode: 'nonsense', skipPermissions: 'may' })).rejects.toThrow(
    'Unknown permission mode',
  );
  const again = await open({ turns: [] }, { session });
  expect(again.info()).toMatchObject({ sessionId: id, warnings: [] });
});
