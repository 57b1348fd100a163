import { expect, test } from 'vitest';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('every built-in command has its group in the menu, and commands of people have none', async () => {
  await using project = await createTempProject({ '.claude/commands/ship.md': 'Ship it.' });
  await using server = await startApiServer({ turns: [] });
  const made = await composed(project, server.url);
  try {
    const commands = made.conversation.commands();
    const ungrouped = commands.filter(({ group }) => group === undefined).map(({ name }) => name);
    expect(ungrouped).toEqual(['ship']);
    const positions = commands.flatMap(({ group }) => group?.position ?? []);
    expect(new Set(positions).size).toBe(positions.length);
  } finally {
    await made.close();
  }
});
