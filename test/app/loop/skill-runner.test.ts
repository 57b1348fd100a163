import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { createTempProject } from '../../support/temp-project.ts';

const skill = (id: string, input: object) => toolUse('Skill', input, id);
const lastOf = (server: ApiServer) => server.requests().at(-1)?.raw ?? '';

test('a skill called by the model is expanded, runs its commands through the gate and grants its permissions until the run ends', async () => {
  const head = 'description: Ships\nallowed-tools: Bash(touch *)';
  await using project = await createTempProject({
    'notes.md': 'remember',
    '.claude/skills/ship/SKILL.md': `---\n${head}\n---\nShip $0 from \${CLAUDE_SKILL_DIR}: !\`touch ran && echo yes\` !\`mkdir no\` @notes.md`,
  });
  await using server = await startApiServer({
    turns: ({ raw }) => {
      if (!raw.includes('toolu_skill')) return calls(skill('toolu_skill', { skill: 'ship', args: 'v1 v2' }));
      return raw.includes('toolu_touch')
        ? says('Done.')
        : calls(toolUse('Bash', { command: 'touch later' }, 'toolu_touch'));
    },
  });
  const made = await composed(project, server.url, { frontend: 'print' });
  try {
    await made.conversation.agent.prompt('go');
    const raw = lastOf(server);
    expect(raw).toContain(`Ship v1 from ${join(project.dir, '.claude/skills/ship')}: yes`);
    expect(raw).toContain('(not run: ');
    expect(raw).toContain('remember');
    await project.read('ran');
    await project.read('later');
    await made.conversation.agent.prompt('again');
    await expect(project.read('no')).rejects.toThrow('ENOENT');
    expect(made.conversation.info().permissionDenials.map(({ input }) => input)).toEqual([{ command: 'mkdir no' }]);
  } finally {
    await made.close();
  }
});

test('the permissions, model and effort of a command apply to its run only', async () => {
  const head = 'model: haiku\neffort: low\nallowed-tools: Bash(touch *)\ndisallowed-tools: Read';
  await using project = await createTempProject({
    '.claude/commands/quick.md': `---\n${head}\n---\nBe quick with $0.`,
  });
  await using server = await startApiServer({
    turns: ({ raw }) =>
      raw.match(/"type":"tool_result"/g)?.length === (raw.includes('NEXT') ? 2 : 1)
        ? says('Done.')
        : calls(
            toolUse(
              'Bash',
              { command: `touch ${raw.includes('NEXT') ? 'two' : 'one'}` },
              raw.includes('NEXT') ? 'toolu_2' : 'toolu_1',
            ),
          ),
  });
  const made = await composed(project, server.url, { frontend: 'print' });
  try {
    const outcome = await made.conversation.runCommand('quick it');
    if (outcome.kind !== 'prompt') throw new Error(outcome.kind);
    await made.conversation.agent.prompt(outcome.blocks);
    await made.conversation.agent.prompt('NEXT');
    const models = server.requests().map(({ body }) => String(body.model).includes('haiku'));
    expect(models).toEqual([true, true, false, false]);
    await project.read('one');
    await expect(project.read('two')).rejects.toThrow('ENOENT');
  } finally {
    await made.close();
  }
});

test('the model respects who may call a skill, and a skill for certain files is mentioned when they are used', async () => {
  await using project = await createTempProject({
    'db/a.sql': 'select 1;',
    '.claude/skills/deploy/SKILL.md': '---\ndescription: Deploys\ndisable-model-invocation: true\n---\nDeploy.',
    '.claude/skills/style/SKILL.md': '---\ndescription: Style\nuser-invocable: false\n---\nStyle.',
    '.claude/skills/sql/SKILL.md': '---\ndescription: Knows SQL\npaths: db/**\n---\nSQL.',
    '.agents/skills/shared/SKILL.md': '---\ndescription: Shared by all programs\n---\nShared.',
  });
  await project.write('../home/.agents/skills/own/SKILL.md', '---\ndescription: My own\n---\nOwn.');
  await using server = await startApiServer({
    turns: ({ raw }) => {
      if (!raw.includes('toolu_1')) return calls(skill('toolu_1', { name: 'deploy' }));
      if (raw.includes('toolu_2')) return says('Done.');
      return calls(toolUse('Read', { file_path: 'db/a.sql' }, 'toolu_2'));
    },
  });
  const made = await composed(project, server.url, { frontend: 'print' });
  try {
    await made.conversation.agent.prompt('go');
    const first = JSON.stringify(server.requests()[0]?.body.system);
    expect(first).toContain('Style');
    expect(first).toContain('Shared by all programs');
    expect(first).toContain('My own');
    expect(first).not.toContain('Deploys');
    expect(first).not.toContain('Knows SQL');
    expect(server.requests()[1]?.raw).toContain('Only the user calls deploy, with /deploy.');
    expect(lastOf(server)).toContain('sql: Knows SQL');
    const names = made.conversation.commands().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['deploy', 'sql', 'shared', 'own']));
    expect(names).not.toContain('style');
    expect(await made.command('style')).toContain('Only the model can invoke');
    expect(await made.command('deploy')).toBe('prompt');
  } finally {
    await made.close();
  }
});

test('a forked skill runs in a sub-agent of its type for every caller', async () => {
  const head =
    'name: Deep Look\ndescription: Looks deep\ncontext: fork\nagent: Explore\ndisable-model-invocation: true';
  await using project = await createTempProject({
    '.claude/skills/deep/SKILL.md': `---\n${head}\n---\nLook for $ARGUMENTS.`,
  });
  await using server = await startApiServer({
    turns: ({ raw, body }) => {
      if (JSON.stringify(body.system).includes('You find things out')) return says('Found in a.ts.');
      return raw.includes('toolu_1')
        ? says('It is in a.ts.')
        : calls(skill('toolu_1', { name: 'Deep Look', args: 'the port' }));
    },
  });
  const made = await composed(project, server.url, { frontend: 'print' });
  try {
    const outcome = await made.conversation.runCommand('deep the port');
    if (outcome.kind !== 'prompt') throw new Error(outcome.kind);
    await made.conversation.agent.prompt(outcome.blocks);
    const [first, second, third] = server.requests();
    expect(JSON.stringify(first?.body.messages)).toContain('Call the Skill tool once');
    expect(second?.raw).toContain('Look for the port.');
    expect(third?.raw).toContain('Found in a.ts.');
  } finally {
    await made.close();
  }
});

test('opusplan uses one model for planning and another for the work', async () => {
  await using project = await createTempProject();
  await using server = await startApiServer({ turns: () => says('Done.') });
  const made = await composed(project, server.url, { settings: JSON.stringify({ model: 'opusplan' }) });
  try {
    made.conversation.setMode('plan');
    await made.conversation.agent.prompt('plan it');
    made.conversation.setMode('default');
    await made.conversation.agent.prompt('do it');
    expect(server.requests().map(({ body }) => /opus|sonnet/.exec(String(body.model))?.[0])).toEqual([
      'opus',
      'sonnet',
    ]);
  } finally {
    await made.close();
  }
});
