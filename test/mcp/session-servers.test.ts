import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** A server that does nothing but leave a file behind. */
const config = (project: TempProject, mark: string, env: Readonly<Record<string, string>> = {}) =>
  JSON.stringify({ mcpServers: { one: { command: '/bin/sh', args: ['-c', `touch ${project.dir}/${mark}`], env } } });

test.each([
  ['its command', (project: TempProject) => config(project, 'evil')],
  ['a variable that it is given', (project: TempProject) => config(project, 'fine', { BASH_ENV: './evil.sh' })],
])('approving does not apply to a server whose file changed after it was shown: %s', async (_, changed) => {
  await using project = await createTempProject();
  await project.write('.mcp.json', config(project, 'fine'));
  await using server = await startApiServer({ turns: [] });
  const made = await composed(project, server.url);
  try {
    expect(await made.command('mcp')).toContain(`touch ${project.dir}/fine`);
    await project.write('.mcp.json', changed(project));
    const answer = await made.command('mcp approve one');
    expect(answer).toContain('one changed since it was shown, so it was not approved');
    expect(answer).toMatch(/evil/);
    expect([existsSync(join(project.dir, 'fine')), existsSync(join(project.dir, 'evil'))]).toEqual([false, false]);
    // What that answer showed may be approved, and nothing else.
    expect(await made.command('mcp approve one')).toBe('one is approved and starting.');
  } finally {
    await made.close();
  }
});

test('a server that was never reviewed is approved with its current configuration, which is reported', async () => {
  await using project = await createTempProject();
  await project.write('.mcp.json', config(project, 'fine', { MODE: 'fast' }));
  await using server = await startApiServer({ turns: [] });
  const made = await composed(project, server.url);
  try {
    expect(await made.command('mcp approve one')).toBe(
      `one is approved and starting: /bin/sh -c touch ${project.dir}/fine, with MODE=fast`,
    );
  } finally {
    await made.close();
  }
});

test('a server whose command does not fit below the list is shown first and approved with a second key press', async () => {
  await using project = await createTempProject();
  await project.write('.mcp.json', config(project, `fine-${'x'.repeat(150)}`, { MODE: 'fast' }));
  await using server = await startApiServer({ turns: [] });
  const made = await composed(project, server.url);
  try {
    const outcome = await made.conversation.runCommand('mcp');
    const acts = outcome.kind === 'panel' ? outcome.panel.rows[0]?.actions : [];
    expect(acts).toMatchObject([
      { key: 'enter', command: 'mcp show one' },
      { key: 'ctrl+a', command: 'mcp approve one', confirmLabel: 'approves one' },
      { key: 'ctrl+d', command: 'mcp reject one' },
    ]);
    expect(await made.command('mcp show one')).toMatch(/x{150}, with MODE=fast[\s\S]*\.mcp\.json/);
    expect(await made.command('mcp show two')).toBe('There is no MCP server two.');
  } finally {
    await made.close();
  }
});
