import { expect, test, vi } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { expectNoProcessesLeft } from '../../support/processes.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('background work is listed, and stopping an entry by id ends everything it started', async () => {
  await using project = await createTempProject();
  const sleeper = (id: string, more: object = {}) => toolUse('Bash', { command: 'sleep 300', ...more }, id);
  const task = toolUse('Task', { description: 'Ann', prompt: 'You are Ann', run_in_background: true }, 'toolu_task');
  await using server = await startApiServer({
    turns: ({ raw }) => {
      if (!raw.includes('toolu_task')) return raw.includes('You are Ann') ? calls(sleeper('toolu_ann')) : calls(task);
      return raw.includes('toolu_own')
        ? says('Both are at it.')
        : calls(sleeper('toolu_own', { run_in_background: true }));
    },
  });
  const made = await composed(project, server.url, { allowedTools: ['Bash'] });
  try {
    await made.conversation.agent.prompt('go');
    const began = () => made.events.filter((event) => event.type === 'subagent' && event.event.type === 'tool_start');
    await vi.waitFor(() => expect(began()).toHaveLength(1));
    const listed = await made.command('ps');
    const agent = /agent_\w+/.exec(listed)?.[0] ?? '';
    expect(listed).toMatch(/\? shell_1 +sleep 300 +running[\s\S]*\? agent_\w+ +Ann/);
    expect(await made.command(`ps stop ${agent}`)).toBe(`Stopped ${agent}.`);
    expect(await made.command('ps stop shell_1')).toBe('Stopped shell_1.');
    await vi.waitFor(async () =>
      expect(await made.command('ps')).toMatch(/x shell_1 +sleep 300 +ended by signal SIGTERM/),
    );
    expect(await made.command(`ps stop ${agent}`)).toBe(`There is no background task ${agent}. /ps lists them.`);
    expect(await made.command('ps stop shell_1')).toBe('shell_1 had already ended.');
    expect(await made.command('ps show shell_1')).toContain('$ sleep 300\n(no output yet)');
    expect(await made.command('ps everything')).toContain('/ps stop <id>');
    await expectNoProcessesLeft(project.marker);
  } finally {
    await made.close();
  }
});

/** Its first request; the conversation's own names the call. */
const isOfAgent = (raw: string) => /You are (Ann|Ben)/.test(raw) && !raw.includes('toolu_');

test('a foreground sub-agent can be moved to the background: it survives an abort, and its end is reported', async () => {
  await using project = await createTempProject();
  const found = Promise.withResolvers<void>();
  const task = (name: string) => toolUse('Task', { description: name, prompt: `You are ${name}` }, `toolu_${name}`);
  await using server = await startApiServer({
    turns({ raw }) {
      if (isOfAgent(raw)) return { kind: 'later', until: found.promise, turn: says('The tide is high.') };
      if (raw.includes('The tide is high.')) return says('Ann and Ben have told me.');
      return raw.includes('sent it to the background') ? says('I go on.') : calls(task('Ann'), task('Ben'));
    },
  });
  const made = await composed(project, server.url, { frontend: 'screen' });
  const { conversation } = made;
  try {
    expect(conversation.moveToBackground()).toBe(false);
    const turn = conversation.agent.prompt('go');
    const working = () => server.requests().filter(({ raw }) => isOfAgent(raw));
    await vi.waitFor(() => expect(working()).toHaveLength(2));
    expect(conversation.moveToBackground('toolu_nobody')).toBe(false);
    expect(conversation.moveToBackground('toolu_Ann')).toBe(true);
    expect(conversation.moveToBackground()).toBe(true);
    expect(conversation.moveToBackground()).toBe(false);
    expect((await turn).reason).toBe('completed');
    const ends = made.events.filter((event) => event.type === 'tool_end');
    expect(ends.map(({ status, structured }) => ({ status, structured }))).toEqual(
      ['Ann', 'Ben'].map((name) => ({
        status: 'done',
        structured: expect.objectContaining({ status: 'async_launched', isAsync: true, description: name }),
      })),
    );
    conversation.agent.abort('user');
    expect(conversation.background().map(({ title }) => title)).toEqual(['Ann', 'Ben']);
    found.resolve();
    const reported = () => server.requests().filter(({ raw }) => raw.includes('The tide is high.'));
    await vi.waitFor(() => expect(reported().length).toBeGreaterThan(0));
    await vi.waitFor(() => expect(conversation.background()).toEqual([]));
    expect(reported().at(-1)?.raw).toMatch(/Sub-agent agent_\w+ \((Ann|Ben)\) has finished/);
  } finally {
    await made.close();
  }
});

longTest('an aborted foreground sub-agent ends and can no longer be moved', async () => {
  await using project = await createTempProject();
  await using server = await startApiServer({
    turns: ({ raw }) =>
      isOfAgent(raw)
        ? { kind: 'hang' }
        : calls(toolUse('Task', { description: 'Ann', prompt: 'You are Ann' }, 'toolu_ann')),
  });
  const made = await composed(project, server.url, { frontend: 'screen' });
  const turn = made.conversation.agent.prompt('go');
  await vi.waitFor(() => expect(server.requests().some(({ raw }) => isOfAgent(raw))).toBe(true));
  made.conversation.agent.abort('user');
  expect((await turn).reason).toBe('aborted_tools');
  expect(made.conversation.moveToBackground()).toBe(false);
  await made.close();
});
