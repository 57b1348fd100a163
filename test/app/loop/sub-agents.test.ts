import { expect, test, vi } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { expectNoneLeft } from '../../support/processes.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('what runs in the background is listed, and one of it is stopped by its id with everything it started', async () => {
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
    expect(await made.command(`ps stop ${agent}`)).toBe(`Ended ${agent}.`);
    expect(await made.command('ps stop shell_1')).toBe('Ended shell_1.');
    await vi.waitFor(async () =>
      expect(await made.command('ps')).toMatch(/x shell_1 +sleep 300 +ended by signal SIGTERM/),
    );
    expect(await made.command(`ps stop ${agent}`)).toBe(`There is no ${agent} in the background.`);
    expect(await made.command('ps stop shell_1')).toBe('shell_1 had already ended.');
    expect(await made.command('ps show shell_1')).toContain('$ sleep 300\n(no output yet)');
    expect(await made.command('ps everything')).toContain('/ps stop <id>');
    await expectNoneLeft(project.marker);
  } finally {
    await made.close();
  }
});
