import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject } from '../../support/temp-project.ts';

const AGENT = '---\nname: maker\ndescription: Makes things\nisolation: worktree\n---\nYou are the maker.';

test('a sub-agent in its own worktree changes nothing in the checkout', async () => {
  await using project = await createTempProject({ 'a.txt': 'alpha\n', '.claude/agents/maker.md': AGENT });
  await project.initGit();
  const task = toolUse('Task', { description: 'Make', prompt: 'Make it', subagent_type: 'maker' }, 'toolu_task');
  const own = [
    calls(toolUse('Write', { file_path: 'made.txt', content: 'new\n' }, 'toolu_rel')),
    calls(toolUse('Write', { file_path: join(project.dir, 'stray.txt'), content: 'x' }, 'toolu_abs')),
    calls(toolUse('Bash', { command: `echo x > '${project.dir}/stray.txt'` }, 'toolu_sh')),
    calls(toolUse('Bash', { command: `cd '${project.dir}'` }, 'toolu_cd')),
    calls(toolUse('Bash', { command: 'pwd -P && git status --porcelain' }, 'toolu_pwd')),
    says('Made.'),
  ];
  await using server = await startApiServer({
    turns: ({ raw, body }) => {
      if (!JSON.stringify(body.system).includes('You are the maker'))
        return raw.includes('toolu_task') ? says('Done.') : calls(task);
      return own[raw.match(/"role":"assistant"/g)?.length ?? 0];
    },
  });
  const made = await composed(project, server.url, { allowedTools: ['Bash', 'Edit', 'Write'] });
  try {
    await made.conversation.agent.prompt('go');
    const last = server.requests().at(-1)?.raw ?? '';
    const [, path = ''] = /is in (\/.+?) on branch ouro\/maker-\w+\./.exec(last) ?? [];
    expect(dirname(path)).toBe(join(dirname(project.dir), 'project-worktrees'));
    await access(join(path, 'made.txt'));
    await expect(access(join(project.dir, 'made.txt'))).rejects.toThrow('ENOENT');
    await expect(access(join(project.dir, 'stray.txt'))).rejects.toThrow('ENOENT');
    const ended = server.requests().findLast(({ raw }) => raw.includes('toolu_pwd'))?.raw ?? '';
    expect(ended).toContain(`${path}\\n?? made.txt`);
    expect(JSON.stringify(server.requests()[1]?.body.system)).toContain(`git worktree of your own: ${path}`);
    expect(await project.git('status', '--porcelain')).toBe('');
    const [, id = ''] = /(agent_\w{8}): SendMessage/.exec(last) ?? [];
    const before = server.requests().length;
    await made.command(`agents tell ${id} and more`);
    // Who goes on finds what it has left there.
    await vi.waitFor(() => expect(server.requests().length).toBeGreaterThan(before));
    expect(JSON.stringify(server.requests()[before]?.body.system)).toContain(`git worktree of your own: ${path}`);
  } finally {
    await made.close();
  }
});

longTest('without a possible worktree the sub-agent is not started, and an unchanged worktree is removed', async () => {
  await using project = await createTempProject({ '.claude/agents/maker.md': AGENT });
  const order = { description: 'Make', prompt: 'Make it', subagent_type: 'maker' };
  await using server = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('"tool_result"') || raw.includes('You are the maker')
        ? says('Done.')
        : calls(toolUse('Task', order, 'toolu_task')),
  });
  const made = await composed(project, server.url);
  try {
    await made.conversation.agent.prompt('go');
    expect(server.requests()).toHaveLength(2);
    expect(server.requests()[1]?.raw).toContain('It was not started: Cannot create a worktree');
  } finally {
    await made.close();
  }
  await project.initGit();
  const again = await composed(project, server.url);
  try {
    await again.conversation.agent.prompt('go');
    expect(server.requests().at(-1)?.raw).not.toContain('on branch');
    expect((await project.git('worktree', 'list')).trim().split('\n')).toHaveLength(1);
  } finally {
    await again.close();
  }
});
