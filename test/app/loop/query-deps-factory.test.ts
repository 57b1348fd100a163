import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { overloaded } from '../../support/api/faults.ts';
import { OPENAI_DIALECT } from '../../support/api/openai-dialect.ts';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer, startServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('agents, skills, commands and fallbacks may name models of other providers; their costs are summed', async () => {
  await using project = await createTempProject({
    '.claude/agents/quick.md': '---\nname: quick\ndescription: Looks\nmodel: work/quick\n---\nLook.',
    '.claude/skills/outline/SKILL.md': '---\ndescription: Plans\nmodel: work/planner\n---\nPlan it.',
    '.claude/commands/look.md': '---\ndescription: Looks\nmodel: work/looker\n---\nLook at it.',
  });
  const usage = {
    input_tokens: 10_000,
    output_tokens: 10_000,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  await using work = await startServer({ turns: [], after: { ...says('Fine.'), usage } }, OPENAI_DIALECT);
  await using api = await startApiServer({
    turns: ({ raw }) => {
      if (raw.includes('away')) return overloaded();
      if (raw.includes('toolu_task')) return says('Done.');
      return calls(
        toolUse('Task', { subagent_type: 'quick', description: 'Look', prompt: 'Look around' }, 'toolu_task'),
      );
    },
  });
  const price = { input: 100, output: 200 };
  const priced = ['quick', 'planner', 'looker', 'steady'].map((name) => [`work/${name}`, { price }]);
  const settings = {
    providers: { work: { baseUrl: `${work.url}/v1` } },
    models: Object.fromEntries(priced),
    fallbackModels: ['work/steady'],
  };
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify(settings));
  const made = await composed(project, api.url);
  const askedOf = () => work.requests().map(({ body }) => String(body.model));
  try {
    await made.conversation.agent.prompt('go');
    expect(askedOf()).toEqual(['quick']);
    for (const line of ['outline', 'look']) {
      const outcome = await made.conversation.runCommand(line);
      if (outcome.kind === 'prompt') await made.conversation.agent.prompt(outcome.blocks);
    }
    await made.conversation.agent.prompt('away');
    expect(askedOf()).toEqual(['quick', 'planner', 'looker', 'steady']);
    expect(work.requests().flatMap(({ violation }) => violation ?? [])).toEqual([]);
    expect(await made.command('cost')).toMatch(/work\/quick[^\n]*\$3\.00/);
  } finally {
    await made.close();
  }
});
