import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('a sub-agent has its skills preloaded and may write its memory without asking, nowhere else', async () => {
  const head = 'name: keeper\ndescription: Keeps\ntools: Grep\nskills: pdf\nmemory: project\neffort: low';
  await using project = await createTempProject({
    '.claude/agents/keeper.md': `---\n${head}\n---\nYou are the keeper.`,
    '.claude/skills/pdf/SKILL.md': '---\ndescription: PDFs\n---\nUse pdftotext.',
    '.claude/agent-memory/keeper/MEMORY.md': 'The port is 8080.\n',
  });
  const folder = join(project.dir, '.claude/agent-memory/keeper');
  const write = (path: string, id: string) => toolUse('Write', { file_path: path, content: 'noted' }, id);
  const own = [
    calls(write(join(folder, 'ports.md'), 'toolu_in'), write(join(folder, '../../../settings.json'), 'toolu_out')),
    says('Kept.'),
  ];
  const task = toolUse('Task', { description: 'Keep', prompt: 'Keep it', subagent_type: 'Keeper' }, 'toolu_task');
  await using server = await startApiServer({
    turns: ({ raw, body }) => {
      const isOwn = JSON.stringify(body.system).includes('You are the keeper');
      if (isOwn) return own[raw.match(/"role":"assistant"/g)?.length ?? 0];
      return raw.includes('toolu_task') ? says('Done.') : calls(task);
    },
  });
  const made = await composed(project, server.url, { frontend: 'print' });
  try {
    await made.conversation.agent.prompt('go');
    const first = JSON.stringify(server.requests()[1]?.body);
    expect(first).toContain('Use pdftotext.');
    expect(first).toContain('The port is 8080.');
    expect(await readFile(join(folder, 'ports.md'), 'utf8')).toBe('noted');
    expect(made.conversation.info().permissionDenials.map(({ callId }) => callId)).toEqual(['toolu_out']);
  } finally {
    await made.close();
  }
});
