import { readdir, readFile, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { SeenRequest } from '../../support/api/dialect.ts';
import { type ApiTurn, calls, delayed, says, toolUse } from '../../support/api/reply.ts';
import { gate, startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const task = (more: object = {}) =>
  toolUse('Task', { description: 'Ann', prompt: 'You are Ann', name: 'ann', ...more }, 'toolu_task');
const send = (to: string, message: string) => toolUse('SendMessage', { to, message }, `toolu_send_${message}`);
const turnOf = ({ raw }: SeenRequest) => raw.match(/"role":"assistant"/g)?.length ?? 0;
const isAnn = ({ body }: SeenRequest) => JSON.stringify(body.messages?.[0] ?? '').includes('You are Ann');

/** Two conversations, each with a script of its own. */
function play(parent: readonly ApiTurn[], ann: readonly ApiTurn[], onAnn: () => void = () => undefined) {
  return (request: SeenRequest) => {
    if (isAnn(request)) onAnn();
    return (isAnn(request) ? ann : parent)[turnOf(request)];
  };
}

const idIn = (words: string) => /agent_\w{8}/.exec(words)?.[0] ?? '';
const endsOf = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'background' && event.state !== 'started' ? [event.state] : []));

test('a running sub-agent receives a message after its turn; a finished one continues with its context', async () => {
  await using project = await createTempProject();
  const busy = gate();
  const asked = gate();
  await using server = await startApiServer({
    turns: play(
      [
        calls(task({ run_in_background: true })),
        // She has begun, so the message is for her next turn.
        delayed(asked.closed, calls(send('ann', 'hurry'))),
        says('Ann is at it.'),
        calls(send('ann', 'again')),
        says('Ann is asked again.'),
        says('I know it all.'),
      ],
      [delayed(busy.closed, calls(toolUse('Bash', { command: 'pwd' }))), says('It is 42.'), says('Still 42.')],
      asked.open,
    ),
  });
  const made = await composed(project, server.url, { frontend: 'print', allowedTools: ['Bash'] });
  try {
    await made.conversation.agent.prompt('go');
    busy.open();
    await vi.waitFor(() => expect(endsOf(made.events)).toEqual(['completed']));
    await made.conversation.agent.prompt('and now?');
    await vi.waitFor(() => expect(endsOf(made.events)).toEqual(['completed', 'completed']));
    await made.conversation.agent.prompt('well?');
    const ann = server.requests().filter(isAnn);
    expect(ann.map(turnOf)).toEqual([0, 1, 2]);
    expect(ann[0]?.raw).not.toContain('hurry');
    expect(ann[1]?.raw).toContain('hurry');
    expect(ann[2]?.raw).toContain('It is 42.');
    expect(ann[2]?.raw).toContain('again');
    const last = server.requests().at(-1)?.raw ?? '';
    expect(last).toContain('is running and receives it after its current turn');
    expect(last).toContain('continues in the background');
    expect(last).toContain('has finished:\\nIt is 42.');
    expect(last).toContain('has finished:\\nStill 42.');
  } finally {
    await made.close();
  }
});

test('Task with resume waits for the sub-agent, and reports an unknown or busy one', async () => {
  await using project = await createTempProject();
  await using server = await startApiServer({
    turns: (request) => {
      if (isAnn(request)) return [says('Ann, first.'), says('Ann, second.')][turnOf(request)];
      const id = idIn(request.raw);
      return [
        calls(task()),
        calls(
          toolUse('Task', { description: 'More', prompt: 'and more', resume: id }, 'toolu_more'),
          toolUse('Task', { description: 'More', prompt: 'x', resume: '../../nobody' }, 'toolu_nobody'),
          toolUse('SendMessage', { to: 'nobody', message: 'x' }, 'toolu_none'),
        ),
        says('Done.'),
      ][turnOf(request)];
    },
  });
  const made = await composed(project, server.url);
  try {
    await made.conversation.agent.prompt('go');
    const results = made.events.flatMap((event) => (event.type === 'tool_end' ? [event.result] : []));
    const texts = Object.fromEntries(results.map(({ tool_use_id, content }) => [tool_use_id, content]));
    expect(texts.toolu_more).toMatch(/^Ann, second\.\n\n\(agent_\w+: SendMessage goes on with it\)$/);
    expect(texts.toolu_nobody).toMatch(/^There is no sub-agent \.\.\/\.\.\/nobody of yours.*agent_\w+ \(ann: Ann\)\.$/);
    expect(texts.toolu_none).toContain('There is no sub-agent nobody of yours');
    expect(server.requests().filter(isAnn)).toHaveLength(2);
  } finally {
    await made.close();
  }
});

longTest(
  'a sub-agent that must not start must not be resumed, and one without a transcript continues from memory',
  async () => {
    await using project = await createTempProject();
    await using server = await startApiServer({
      turns: (request) => {
        if (isAnn(request)) return says(turnOf(request) === 0 ? 'It is 42.' : 'Still 42.');
        return [calls(task()), says('Ann knows.'), calls(send('ann', 'again')), says('Asked or not.')][turnOf(request)];
      },
    });
    const made = await composed(project, server.url, { persistence: 'memory', frontend: 'print' });
    try {
      await made.conversation.agent.prompt('go');
      expect(await made.command('agents tell ann and now')).toContain('continues in the background');
      await vi.waitFor(() => expect(endsOf(made.events)).toEqual(['completed']));
      expect(server.requests().filter(isAnn).at(-1)?.raw).toContain('It is 42.');
      await made.conversation.control.updatePermissions([
        { type: 'addRules', rules: ['Task(general-purpose)'], behavior: 'deny', destination: 'session' },
      ]);
      await made.conversation.agent.prompt('more');
      const last = made.events.findLast((event) => event.type === 'tool_end');
      expect(last).toMatchObject({ tool: 'SendMessage', status: 'failed' });
      expect(server.requests().filter(isAnn)).toHaveLength(2);
      expect(await made.command('agents tell nobody hello')).toBe('There is no sub-agent nobody in this session.');
      expect(await made.command('agents ann')).toContain('> and now\n\nStill 42.');
    } finally {
      await made.close();
    }
  },
);

/** A session in which Ann has said one thing, left in order; her file, and the session's id. */
async function leftSession(project: TempProject, url: string) {
  const made = await composed(project, url);
  await made.conversation.agent.prompt('go');
  const { sessionId, transcriptPath = '' } = made.conversation.info();
  await made.close();
  const folder = join(dirname(transcriptPath), sessionId, 'subagents');
  const [name = ''] = await readdir(folder);
  return { sessionId, file: join(folder, name), id: name.replace(/^agent-|\.jsonl$/g, '') };
}

test('after a resume of the session a sub-agent of an earlier run can be continued, even if it was killed', async () => {
  for (const how of ['left', 'killed'] as const) {
    await using project = await createTempProject();
    await using server = await startApiServer({
      turns: (request) => {
        if (isAnn(request)) return says(turnOf(request) === 0 ? 'It is 42.' : 'Still 42.');
        if (turnOf(request) === 0) return calls(task());
        return request.raw.includes('toolu_send') ? says('Asked.') : says('Done.');
      },
    });
    const { sessionId, file, id } = await leftSession(project, server.url);
    const whole = await readFile(file, 'utf8');
    // What a kill leaves: the reply is half a line, and nothing says that it ended.
    if (how === 'killed') await truncate(file, whole.indexOf('It is 42.') + 4);
    const made = await composed(project, server.url, {
      frontend: 'print',
      session: { kind: 'resume', wanted: sessionId, fork: 'same' },
    });
    try {
      expect(await made.command('agents')).toMatch(how === 'killed' ? /x ann +general-purpose +interrupted/ : /\+ ann/);
      expect(await made.command('agents tell ann are you sure')).toContain('continues in the background');
      await vi.waitFor(() => expect(endsOf(made.events)).toContain('completed'));
      const asked = server.requests().filter(isAnn).at(-1)?.raw ?? '';
      expect(asked).toContain('You are Ann');
      expect(asked).toContain('are you sure');
      expect(asked.includes('It is 42.')).toBe(how === 'left');
      await made.conversation.agent.prompt('and?');
      const reported = server.requests().at(-1)?.raw ?? '';
      expect(reported.includes(`Running when the session ended: ${id} (ann: Ann).`)).toBe(how === 'killed');
    } finally {
      await made.close();
    }
  }
});
