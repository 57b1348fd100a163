import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

/** A server that does nothing but leave a file behind. */
const config = (project: TempProject, mark: string, env: Readonly<Record<string, string>> = {}) =>
  JSON.stringify({ mcpServers: { one: { command: '/bin/sh', args: ['-c', `touch ${project.dir}/${mark}`], env } } });

test.each([
  ['its command', (project: TempProject) => config(project, 'evil')],
  ['a variable that it is given', (project: TempProject) => config(project, 'fine', { BASH_ENV: './evil.sh' })],
])('a server whose file changed after it was shown is not approved by a yes to that: %s', async (_, changed) => {
  await using project = await createTempProject();
  await project.write('.mcp.json', config(project, 'fine'));
  await using server = await startApiServer({ turns: [] });
  const made = await composed(project, server.url);
  try {
    expect(await made.command('mcp')).toContain(`touch ${project.dir}/fine`);
    await project.write('.mcp.json', changed(project));
    const answer = await made.command('mcp approve one');
    expect(answer).toContain('one has changed since it was shown, so it is not approved');
    expect(answer).toMatch(/evil/);
    expect([existsSync(join(project.dir, 'fine')), existsSync(join(project.dir, 'evil'))]).toEqual([false, false]);
    // What that answer showed may be approved, and nothing else.
    expect(await made.command('mcp approve one')).toContain('is approved and starts');
  } finally {
    await made.close();
  }
});

test('a server nobody looked at is approved as it is configured now, which is said', async () => {
  await using project = await createTempProject();
  await project.write('.mcp.json', config(project, 'fine', { MODE: 'fast' }));
  await using server = await startApiServer({ turns: [] });
  const made = await composed(project, server.url);
  try {
    expect(await made.command('mcp approve one')).toBe(
      `one is approved and starts: /bin/sh -c touch ${project.dir}/fine, given MODE=fast`,
    );
  } finally {
    await made.close();
  }
});

test('a server that is started by more than fits below the list is read first, and approved by two presses', async () => {
  await using project = await createTempProject();
  await project.write('.mcp.json', config(project, `fine-${'x'.repeat(150)}`, { MODE: 'fast' }));
  await using server = await startApiServer({ turns: [] });
  const made = await composed(project, server.url);
  try {
    const outcome = await made.conversation.runCommand('mcp');
    const acts = outcome.kind === 'panel' ? outcome.panel.rows[0]?.acts : [];
    expect(acts).toMatchObject([
      { key: 'enter', line: 'mcp show one' },
      { key: 'ctrl+a', line: 'mcp approve one', sure: 'approves all of one' },
      { key: 'ctrl+d', line: 'mcp reject one' },
    ]);
    expect(await made.command('mcp show one')).toMatch(/x{150}, given MODE=fast[\s\S]*\.mcp\.json/);
    expect(await made.command('mcp show two')).toBe('There is no MCP server two.');
  } finally {
    await made.close();
  }
});
