import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';

const DEEP = '['.repeat(60_000);
/** Names that stand for names: ten to the ninth of them, were they ever written out. */
const BOMB = ['a: &a [x,x,x,x,x,x,x,x,x,x]', ...[...'bcdefghi'].map(bombLine)].join('\n');

function bombLine(name: string, at: number): string {
  const inner = 'abcdefgh'[at];
  return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${inner}`).join(',')}]`;
}

test('a project of pipes, devices and depths without end holds up no start, trusted or not', async () => {
  await using project = await createTempProject({
    '.claude/settings.local.json': `{"hooks": ${DEEP}`,
    '.claude/commands/deep.md': `---\na: ${DEEP.slice(0, 2_000)}\n---\nDeep.`,
    '.claude/commands/bomb.md': `---\n${BOMB}\ndescription: *i\n---\nBomb.`,
    '.claude/commands/good.md': 'Good.',
    '.claude/skills/pipe/readme.txt': '',
    '.claude/skills/huge/SKILL.md': '',
    '.mcp.json': `{"mcpServers": ${DEEP}`,
  });
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const pipes = ['.claude/settings.json', '.claude/commands/pipe.md', '.claude/skills/pipe/SKILL.md', 'CLAUDE.md'];
  await promisify(execFile)(
    'mkfifo',
    pipes.map((name) => join(project.dir, name)),
  );
  await symlink('/dev/zero', join(project.dir, '.claude/commands/zero.md'));
  await writeFile(join(project.dir, '.claude/skills/huge/SKILL.md'), Buffer.alloc(9_000_000, 'x'));
  const ask = () => runHere(project, ['-p', '/good'], api.url);
  expect(await ask()).toMatchObject({ stderr: expect.stringContaining('settings.json could not be read: it is not') });
  await runHere(project, ['trust']);
  const trusted = await ask();
  expect(trusted).toMatchObject({ code: 0, stdout: 'Fine.\n' });
  expect(trusted.stderr).toContain('.mcp.json: is not JSON');
  expect(trusted.stderr).toContain('deep.md');
  expect(api.requests().at(-1)?.raw).toContain('Good.');
});

test('settings may come through a pipe of the shell, and servers with comments', async () => {
  await using project = await createTempProject({ '.mcp.json': '{\n  // ours\n  "mcpServers": {},\n}' });
  const line = `"$0" -p hi --model demo --settings <(echo '{"theme": 7}') < /dev/null`;
  const env = { PATH: '/usr/bin:/bin', HOME: project.home };
  await runHere(project, ['trust']);
  expect(await runHere(project, ['mcp', 'list'])).toMatchObject({ code: 0, stderr: '' });
  const { stderr } = await promisify(execFile)('bash', ['-c', line, LAUNCHER], { cwd: project.dir, env });
  expect(stderr).toMatch(/^\/dev\/fd\/\d+:1 "theme"/);
});
