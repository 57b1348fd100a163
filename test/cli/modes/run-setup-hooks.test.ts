import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { runHere } from '../../support/run-here.ts';
import { NO_SANDBOX } from '../../support/sandbox.ts';
import { createTempProject } from '../../support/temp-project.ts';

const hook = (command: string, matcher?: string) => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [{ type: 'command', command }],
});
const LOG = `sed 's/.*"hook_event_name":"\\([^"]*\\)".*"\\(trigger\\|source\\)":"\\([^"]*\\)".*/\\1 \\3/' >> heard.txt`;

const withHooks = (hooks: object) => createTempProject({ '.claude/settings.json': JSON.stringify({ hooks }) });

test('--init-only runs setup and session hooks, needs no key, and leaves no session', async () => {
  await using project = await withHooks({
    Setup: [hook(LOG), hook('echo only upkeep >> heard.txt', 'maintenance')],
    SessionStart: [hook(LOG)],
  });
  const end = await runHere(project, ['--init-only', '--trust']);
  expect(end).toMatchObject({ code: 0, stdout: '' });
  expect(await project.read('heard.txt')).toBe('Setup init\nSessionStart startup\n');
  expect(await readdir(join(project.ouroHome, 'sessions')).catch(() => [])).toEqual([]);
});

test('a failing setup hook makes such a run fail with the reason; an untrusted folder runs none', async () => {
  await using project = await withHooks({ Setup: [hook('echo no network >&2; exit 1')] });
  const end = await runHere(project, ['--init-only', '--trust']);
  expect(end.code).toBe(1);
  expect(end.stderr).toContain('ended with code 1: no network.');
  const careful = await runHere(project, ['--init-only']);
  expect(careful.stderr).not.toContain('no network');
});

test('before a prompt they run first and add their output; exported variables reach commands', async () => {
  await using project = await withHooks({
    Setup: [
      hook(
        `${LOG}; echo 'export APP_LEVEL=7' >> "$CLAUDE_ENV_FILE"; echo '{"hookSpecificOutput":{"hookEventName":"Setup","additionalContext":"The tide is high."}}'`,
      ),
    ],
    SessionStart: [
      hook(
        `${LOG}; echo 'export APP_DEPTH="$APP_LEVEL fathoms"' >> "$CLAUDE_ENV_FILE"; echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","sessionTitle":"Soundings"}}'`,
      ),
    ],
  });
  await using api = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('toolu_1') ? says('Done.') : calls(toolUse('Bash', { command: 'printenv APP_DEPTH' }, 'toolu_1')),
  });
  const end = await runHere(
    project,
    ['-p', '--maintenance', '--trust', '--allowedTools=Bash(printenv:*)', 'go'],
    api.url,
  );
  expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(await project.read('heard.txt')).toBe('Setup maintenance\nSessionStart startup\n');
  expect(api.requests()[0]?.raw).toContain('The tide is high.');
  expect(api.requests()[1]?.raw).toContain('7 fathoms');
  expect((await runHere(project, ['sessions'], api.url)).stdout).toContain('Soundings');
});

test.skipIf(NO_SANDBOX !== undefined)(
  'what a hook of the project writes to its env file does not leave its sandbox',
  async () => {
    const script = 'touch ../written; . ./module.sh; export BASH_ENV=./module.sh APP_DEPTH=7';
    await using project = await withHooks({ SessionStart: [hook(`echo '${script}' >> "$CLAUDE_ENV_FILE"`)] });
    await project.write('module.sh', 'touch ../sourced\n');
    await using api = await startApiServer({
      turns: ({ raw }) =>
        raw.includes('toolu_1') ? says('Done.') : calls(toolUse('Bash', { command: 'printenv APP_DEPTH' }, 'toolu_1')),
    });
    await runHere(project, ['-p', '--trust', '--allowedTools=Bash(printenv:*)', 'go'], api.url);
    expect(api.requests()).toHaveLength(2);
    expect(readdirSync(join(project.dir, '..')).filter((name) => ['written', 'sourced'].includes(name))).toEqual([]);
  },
);

test('contradicting flags are refused', async () => {
  await using project = await createTempProject();
  const end = await runHere(project, ['-p', '--init', '--maintenance', 'go']);
  expect(end).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--init and --maintenance cannot be combined'),
  });
});
