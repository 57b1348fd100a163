import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, hang, says, status, toolUse } from '../../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../../support/api/server.ts';
import { type Composed, composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { someOf } from '../../support/runs.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 40_000,
  cache_creation_input_tokens: 2_000,
  output_tokens: 50,
};
const MODEL = 'claude-sonnet-4-6';

let project: TempProject;
let opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  project = await createTempProject({ 'CLAUDE.md': 'Use tabs.', 'pkg/CLAUDE.md': 'Here use spaces.', 'pkg/a.ts': 'a' });
});
afterEach(async () => {
  for (const one of opened.toReversed()) await one.close();
  opened = [];
  await project.remove();
});

async function start(
  turns: Script['turns'],
  options: Parameters<typeof composed>[2] = {},
  variables: Parameters<typeof composed>[3] = {},
): Promise<Composed & { readonly server: ApiServer }> {
  const server = await startApiServer({ turns });
  opened.push(server);
  const made = await composed(project, server.url, { model: MODEL, ...options }, variables);
  opened.push(made);
  return { ...made, server };
}

/** Says it, and counts what was sent as a provider would. */
const counted = ({ raw }: { readonly raw: string }, words: string) =>
  says(words, { usage: { input_tokens: Math.round(raw.length / 4) } });
const isOrder = ({ raw }: { readonly raw: string }) => raw.includes('has grown too long');

const sent = (server: ApiServer, at: number) => server.requests().at(at)?.raw ?? '';
const rough = (text: string) => Math.ceil(text.length / 3.5);
const parts = (raw: string): { system: unknown; tools: unknown } => JSON.parse(raw);

test('the first request is at most 30 KB with all tools on: prompt under 3,000 tokens, tools under 6,000', async () => {
  const { conversation, server } = await start([says('hi')]);
  await conversation.agent.prompt('Hello.');
  const raw = sent(server, 0);
  const { system, tools } = parts(raw);
  expect(conversation.info().tools.length).toBeGreaterThan(15);
  expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(30 * 1024);
  expect(rough(JSON.stringify(system))).toBeLessThan(3_000);
  expect(rough(JSON.stringify(tools))).toBeLessThan(6_000);
});

test('a line with # is stored in the memory file, pinned, sent with the next request, and survives compactions', async () => {
  const { conversation, command, server } = await start((request) =>
    counted(request, isOrder(request) ? '<summary>Nothing of note.</summary>' : 'fine '.repeat(3_000)),
  );
  const PIN = 'Never edit ./vendor — not "ever".';
  expect(await command(`memory ${PIN}`)).toContain('CLAUDE.md');
  expect(await project.read('CLAUDE.md')).toBe(`Use tabs.\n- ${PIN}\n`);
  expect(await command('memory user: Answer in German.')).toContain('pinned');
  expect(await command('memory')).toMatch(/CLAUDE\.md +project.*CLAUDE\.md +user/s);
  await conversation.agent.prompt('Begin.');
  const rounds = someOf([1, 2, 3]);
  for (const round of rounds) {
    await conversation.agent.prompt(`Go on with ${round}.`);
    expect(await command('compact what I forbade')).toContain('Compacted');
    await conversation.agent.prompt('And now?');
    const raw = sent(server, -1);
    expect(raw).toContain(JSON.stringify(PIN).slice(1, -1));
    expect(raw).toContain('Answer in German.');
  }
  const orders = server.requests().filter(isOrder);
  expect(orders).toHaveLength(rounds.length);
  expect(orders.every(({ raw }) => raw.includes('what I forbade') && raw.includes('Never edit ./vendor'))).toBe(true);
});

longTest('the list of changed files is right after three compactions, whatever the summaries say', async () => {
  let turn = 0;
  const { conversation, command, server } = await start(
    (request) => {
      if (isOrder(request)) return counted(request, '<summary>I forgot everything.</summary>');
      turn += 1;
      return turn === 1
        ? calls(toolUse('Write', { file_path: join(project.dir, 'made.ts'), content: 'x' }))
        : counted(request, 'said '.repeat(4_000));
    },
    { permissionMode: 'acceptEdits' },
  );
  await conversation.agent.prompt('Make it. Never touch the tests.');
  for (let round = 0; round < 3; round += 1) {
    await conversation.agent.prompt('Tell me more.');
    expect(await command('compact')).toContain('Compacted');
  }
  await conversation.agent.prompt('Which files did you change, and what did I forbid?');
  const raw = sent(server, -1);
  expect(raw).toContain(`Files changed so far:\\n- ${join(project.dir, 'made.ts')}`);
  expect(raw).toContain('Never touch the tests.');
  const orders = server.requests().filter(isOrder);
  expect(orders.every((request) => request.raw.includes('made.ts'))).toBe(true);
  expect(conversation.usage().lines).toEqual({ added: 1, removed: 0 });
});

test('/compact previews, compacts, and can be undone', async () => {
  const { conversation, command } = await start((request) =>
    counted(request, isOrder(request) ? '<summary>We talked.</summary>' : 'word '.repeat(20_000)),
  );
  await conversation.agent.prompt('Begin.');
  await conversation.agent.prompt('Go on.');
  const before = conversation.agent.state().messages;
  const preview = await command('compact preview');
  expect(preview).toContain('would be summarized');
  expect(conversation.agent.state().messages).toEqual(before);
  expect(await command('compact')).toContain('Compacted');
  expect(conversation.agent.state().messages.length).toBeLessThan(before.length + 1);
  expect(await command('compact undo')).toContain('Compaction undone.');
  const words = conversation.agent.state().messages.filter((message) => message.role !== 'boundary');
  expect(words).toEqual(before);
  expect(await command('compact undo')).toContain('no compaction to undo');
});

test('/context, /cost, /cache, /timeline and /memory show the state of the session', async () => {
  const turns = [says('one', { usage: { ...USAGE, cache_read_input_tokens: 0 } }), says('two', { usage: USAGE })];
  const { conversation, command } = await start(turns);
  expect(await command('memory')).toContain(join(project.dir, 'CLAUDE.md'));
  expect(await command('cache')).toContain('No request has been sent');
  await conversation.agent.prompt('One.');
  await conversation.agent.prompt('Two.');
  const context = await command('context');
  for (const words of ['System prompt', 'Tools', 'Memory files', 'Messages', 'Free', 'Buffer', 'Largest']) {
    expect(context).toContain(words);
  }
  expect(await command('cost')).toMatch(/claude-sonnet-4-6 \| 200 \| 4k \| 40k \| 100 \| \$0\.0/);
  expect(await command('cache')).toMatch(/2 requests?, none with a changed prefix/);
  const timeline = await command('timeline');
  expect(timeline).toContain('$');
  expect(JSON.stringify(conversation.agent.state().messages)).not.toContain('Largest');
});

longTest('an unknown price is never guessed', async () => {
  const { conversation, command } = await start([says('one')], { model: 'llama-9-huge' });
  await conversation.agent.prompt('One.');
  expect(await command('cost')).toContain('price unknown');
});

longTest('switching the model or the effort says in one row what the next request will cost', async () => {
  const { conversation, command, events } = await start([says('one', { usage: USAGE }), says('two', { usage: USAGE })]);
  expect(await command('model claude-opus-4-6')).toBe('Model set to claude-opus-4-6 from the next turn on.');
  await conversation.agent.prompt('One.');
  const switched = await command(`model ${MODEL}`);
  expect(switched).toMatch(
    /^Model set to claude-sonnet-4-6; the next turn resends 42\.?\d*k tokens \(about \$0\.1\d\)\.$/,
  );
  expect(switched.length).toBeLessThanOrEqual(80);
  expect(await command('effort high')).toMatch(/^Effort set to high; the next turn resends 42/);
  await conversation.agent.prompt('Two.');
  expect(events.filter((event) => event.type === 'notice' && event.topic === 'cache')).toEqual([]);
  expect(await command('cache')).toContain('the model changed from claude-opus-4-6 to claude-sonnet-4-6');
});

test('/btw answers from the context already sent and leaves no trace in the conversation', async () => {
  const { conversation, command, server } = await start([says('It is a cache.'), says('Least recently used.')]);
  await conversation.agent.prompt('What is this?');
  const before = conversation.agent.state().messages;
  expect(await command('btw what does LRU mean?')).toBe('Least recently used.');
  expect(conversation.agent.state().messages).toEqual(before);
  const aside = sent(server, -1);
  expect(aside).toContain('It is a cache.');
  expect(JSON.parse(aside).tools).toEqual(JSON.parse(sent(server, 0)).tools);
  expect(JSON.parse(aside).system).toEqual(JSON.parse(sent(server, 0)).system);
});

longTest('/btw explains why there is no answer; a repeated summary is reported like any request', async () => {
  const again = { after: 0 };
  const { conversation, command, events } = await start(
    (request) => {
      if (request.raw.includes('on the side')) return status(401);
      if (!isOrder(request)) return counted(request, 'word '.repeat(5_000));
      again.after += 1;
      return again.after === 1 ? status(500) : says('<summary>We talked.</summary>');
    },
    {},
    { OURO_RETRY_BASE_MS: '1' },
  );
  expect(await command('btw what does LRU mean?')).toMatch(/^No answer: .*credentials/);
  await conversation.agent.prompt('Begin.');
  await conversation.agent.prompt('Go on.');
  expect(await command('compact')).toContain('Compacted');
  const tries = events.slice(events.findLastIndex(({ type }) => type === 'agent_end'));
  expect(tries.map((event) => (event.type === 'status' ? event.status : event.type))).toEqual([
    'agent_end',
    'compacting',
    'retry',
    'request_sent',
    'compacting',
    'compacted',
    'idle',
  ]);
});

test('changes of mode, files, memory and branch are appended with the latest message, never by rewriting', async () => {
  await project.initGit();
  const turns = [
    calls(toolUse('Read', { file_path: join(project.dir, 'pkg/a.ts') })),
    says('read'),
    says('planned'),
    says('seen'),
  ];
  const { conversation, command, server } = await start(turns);
  await conversation.agent.prompt('Read it.');
  expect(sent(server, 1)).toContain('Here use spaces.');
  conversation.setMode('plan');
  await conversation.agent.prompt('Plan it.');
  await project.write('pkg/a.ts', 'changed');
  await project.write('CLAUDE.md', 'Use spaces everywhere.');
  for (const file of ['pkg/a.ts', 'CLAUDE.md']) await utimes(join(project.dir, file), 1, 1);
  await project.write('.git/HEAD', 'ref: refs/heads/fix/lexer\n');
  await conversation.agent.prompt('Look again.');
  const last = JSON.parse(sent(server, -1)).messages.at(-1);
  expect(JSON.stringify(last)).toContain('a.ts has changed on disk');
  expect(JSON.stringify(last)).toContain('The git branch is now fix/lexer.');
  expect(JSON.stringify(last)).toContain('Use spaces everywhere.');
  expect(JSON.stringify(JSON.parse(sent(server, 2)).messages.at(-1)).toLowerCase()).toContain('plan');
  expect(await command('cache')).toContain('none with a changed prefix');
});

longTest('repository changes by others are reported with a later request, and no prompt waits for them', async () => {
  await project.initGit();
  const { conversation, server } = await start(() => says('fine'));
  await conversation.agent.prompt('Begin.');
  // What happens the moment the model rests may pass for its own work, so others go on committing.
  for (let round = 0; round < 50 && !sent(server, -1).includes('New commit'); round += 1) {
    await project.git('commit', '-q', '--allow-empty', '-m', 'Theirs');
    await conversation.agent.prompt(`Again ${round}.`);
  }
  expect(sent(server, -1)).toMatch(
    /The repository was changed outside this conversation:\\n {2}New commit: \w+ Theirs/,
  );
});

longTest('after a compaction the mode and edits of memory files are stated again', async () => {
  const { conversation, command, server } = await start((request) =>
    counted(request, isOrder(request) ? '<summary>We talked.</summary>' : 'word '.repeat(10_000)),
  );
  await conversation.agent.prompt('Begin.');
  conversation.setMode('plan');
  await project.write('CLAUDE.md', 'Use spaces everywhere.');
  await utimes(join(project.dir, 'CLAUDE.md'), 1, 1);
  await conversation.agent.prompt('Go on.');
  const reported = JSON.parse(sent(server, 1)).messages.at(-1).content;
  expect(await command('compact')).toContain('Compacted');
  await conversation.agent.prompt('And?');
  const again = JSON.stringify(JSON.parse(sent(server, -1)).messages.at(-1));
  expect(again).toContain('Use spaces everywhere.');
  expect(JSON.stringify(reported)).toContain('Use spaces everywhere.');
  expect(again.toLowerCase()).toContain('plan');
});

test('/clear starts a new conversation without earlier messages', async () => {
  const { conversation, command, server } = await start([says('one'), says('two')]);
  await conversation.agent.prompt('Secret words.');
  await project.write('CLAUDE.md', 'Use spaces everywhere.');
  await command('clear');
  await conversation.agent.prompt('Hello again.');
  expect(sent(server, -1)).not.toContain('Secret words.');
  expect(JSON.stringify(parts(sent(server, -1)).system)).toContain('Use spaces everywhere.');
});

test.each([
  ['is refused', says('No.', { stop: 'refusal' }), 'refusal'],
  ['is cut off', says('<summary>It was ab', { stop: 'max_tokens' }), 'max_tokens'],
  ['is empty', says('<summary> </summary>'), 'empty'],
  ['fails', status(400), 'Not compacted'],
])('a summary that %s leaves the conversation unchanged and is reported', async (_what, answer, words) => {
  const { conversation, command } = await start((request) =>
    isOrder(request) ? answer : counted(request, 'word '.repeat(5_000)),
  );
  await conversation.agent.prompt('Begin.');
  await conversation.agent.prompt('Go on.');
  const before = conversation.agent.state().messages;
  expect(await command('compact')).toContain(words);
  expect(conversation.agent.state()).toMatchObject({ messages: before, status: 'idle' });
});

longTest('when the current model is unavailable, the next of the chain writes the summary', async () => {
  const { conversation, command, server, events } = await start(
    (request) => {
      if (!isOrder(request)) return counted(request, 'word '.repeat(9_000));
      return request.body.model === MODEL ? status(404) : counted(request, '<summary>We talked.</summary>');
    },
    { fallbackModels: ['haiku'] },
  );
  await conversation.agent.prompt('Begin.');
  await conversation.agent.prompt('Go on.');
  expect(await command('compact')).toContain('Compacted');
  expect(server.requests().filter(isOrder)).toHaveLength(2);
  const reported = expect.stringMatching(/^Switched to claude-haiku-\S+ for the summary: /);
  expect(events).toContainEqual(expect.objectContaining({ topic: 'fallback', text: reported }));
});

longTest('stopping /compact leaves the conversation unchanged and delivers messages typed meanwhile', async () => {
  const { conversation, command, server, events } = await start((request) =>
    isOrder(request) ? hang() : counted(request, 'word '.repeat(5_000)),
  );
  await conversation.agent.prompt('Begin.');
  await conversation.agent.prompt('Go on.');
  const before = conversation.agent.state().messages;
  const compacting = command('compact');
  while (server.requests().length < 3) await new Promise((resolve) => setImmediate(resolve));
  conversation.agent.steer('Something else.');
  conversation.agent.abort();
  expect(await compacting).toBe('Compaction stopped. The conversation is unchanged.');
  await conversation.agent.waitForIdle();
  expect(conversation.agent.state().messages.slice(0, before.length)).toEqual(before);
  expect(conversation.agent.state().messages).toHaveLength(before.length + 2);
  expect(sent(server, -1)).toContain('Something else.');
  expect(events.some(({ type }) => type === 'compacted')).toBe(false);
});

test('a reply that exceeds the window is answered after a compaction in the same turn, in the real program', async () => {
  const server = await startApiServer({
    turns: (request) => counted(request, isOrder(request) ? '<summary>We talked.</summary>' : 'word '.repeat(9_000)),
    contextWindowTokens: 22_000,
  });
  opened.push(server);
  const made = await composed(project, server.url, { model: MODEL });
  opened.push(made);
  for (const words of ['One.', 'Two.', 'Three.']) {
    expect((await made.conversation.agent.prompt(words)).reason).toBe('completed');
  }
  expect(made.events.filter((event) => event.type === 'transition').map((event) => event.reason)).toContain(
    'reactive_compact_retry',
  );
});

test('a resumed session sends identical bytes in another mode and after midnight too, and keeps its pins', async () => {
  await project.initGit();
  const first = await start((request) => counted(request, 'word '.repeat(3_000)));
  await first.command('memory Never rename the API.');
  first.conversation.setMode('acceptEdits');
  await first.conversation.agent.prompt('One.');
  await first.conversation.agent.prompt('Two.');
  await first.close();
  await project.write('theirs.txt', 'made meanwhile');
  const again = await start(
    (request) => counted(request, isOrder(request) ? '<summary>We talked.</summary>' : 'word '.repeat(3_000)),
    { session: { kind: 'continue', fork: 'same' } },
  );
  again.conversation.setMode('plan');
  await project.write('.git/HEAD', 'ref: refs/heads/other\n');
  await project.write('CLAUDE.md', 'Written by somebody else.');
  await again.conversation.agent.prompt('Three.');
  const before = JSON.parse(sent(first.server, -1));
  const after = JSON.parse(sent(again.server, 0));
  const bare = (value: unknown) => JSON.stringify(value).replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, '');
  expect(bare(after.system)).toBe(bare(before.system));
  expect(bare(after.tools)).toBe(bare(before.tools));
  expect(bare(after.messages.slice(0, before.messages.length))).toBe(bare(before.messages));
  expect(JSON.stringify(after.messages.at(-1))).toContain('Written by somebody else.');
  expect(JSON.stringify(after.messages.at(-1))).toContain('The git branch is now other.');
  expect(JSON.stringify(after.messages.at(-1))).toMatch(/the repository was like this:.*theirs\.txt/);
  expect(await again.command('compact')).toContain('Compacted');
  await again.conversation.agent.prompt('Four.');
  expect(sent(again.server, -1)).toContain('"Never rename the API."');
  await again.close();
  const third = await start([says('five')], { session: { kind: 'continue', fork: 'same' } });
  expect(third.conversation.agent.state().messages).not.toHaveLength(0);
  expect(await third.command('cost')).toMatch(/^Earlier in this session: 4 replies, .* tokens in, .*, \$\d/);
  expect(await third.command('compact undo')).toContain('Compaction undone.');
  expect(await third.command('compact undo')).toContain('no compaction to undo');
  await third.conversation.agent.prompt('Five.');
  const whole = JSON.parse(sent(third.server, -1)).messages;
  expect(bare(whole.slice(0, before.messages.length))).toBe(bare(before.messages));
  expect(JSON.stringify(whole)).toMatch(/Three\..*Four\..*Five\./);
});

longTest('a resume does not mention unchanged instructions and repositories', async () => {
  const first = await start([says('one')]);
  await first.conversation.agent.prompt('One.');
  await first.close();
  const again = await start([says('two')], { session: { kind: 'continue', fork: 'same' } });
  await again.conversation.agent.prompt('Two.');
  expect(sent(again.server, 0)).toContain('Use tabs.');
  expect(sent(again.server, 0)).not.toContain('files of instructions have changed');
  expect(sent(again.server, 0)).not.toContain('the repository was like this');
});

longTest('content that the provider dropped is reported and read again on request', async () => {
  const read = (id: string) => calls(toolUse('Read', { file_path: 'pkg/a.ts' }, id));
  const cleared = { cleared_tool_uses: 1, cleared_input_tokens: 40_000 };
  const { conversation, command, server } = await start([
    read('t1'),
    says('read', { cleared }),
    read('t2'),
    says('again'),
  ]);
  await conversation.agent.prompt('read it');
  await conversation.agent.prompt('read it again');
  expect(server.requests()[0]?.headers['anthropic-beta']).toContain('context-management-2025-06-27');
  expect(server.requests().at(-1)?.raw).not.toContain('Unchanged since it was last read');
  expect(await command('timeline')).toContain('1 old result dropped by the provider, 40k tokens freed');
});
