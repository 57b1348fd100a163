import { execFile } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { LAUNCHER, runOuro } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';
import { CLIENT_NODE, clientFile, NO_CLIENTS } from '../support/third-party.ts';

const run = promisify(execFile);

if (NO_CLIENTS !== undefined) process.stderr.write(`\n${NO_CLIENTS}\n`);

describe.skipIf(NO_CLIENTS !== undefined)('third-party programs', () => {
  let project: TempProject;
  let server: ApiServer;
  afterEach(async () => {
    await server?.close();
    await project?.remove();
  });

  async function begin(turns: Script['turns'], settings: object = {}): Promise<void> {
    project = await createTempProject();
    server = await startApiServer({ turns });
    await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  }

  async function using(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const variables = { ...bareEnvironment(project, server.url), ...env };
    return (await run(CLIENT_NODE, [clientFile(file), ...args], { cwd: project.dir, env: variables })).stdout;
  }

  test('ccusage counts the usage of a mirrored session and its sub-agent', async () => {
    const aside = toolUse('Task', { description: 'd', prompt: 'p', subagent_type: 'Explore' });
    await begin([calls(text('I ask.'), aside), says('Quiet.'), says('Done.')], { transcriptMirror: '~/.claude' });
    expect(await runOuro(project, ['-p', 'what is up?'], server.url)).toMatchObject({ code: 0, stderr: '' });
    const reported = await using('ccusage/dist/index.js', ['session', '--json', '--offline']);
    // Three replies with 25 tokens read and 12 written each.
    expect(JSON.parse(reported).totals).toMatchObject({ inputTokens: 75, outputTokens: 36 });
  });

  test('ccstatusline renders the status payload', async () => {
    const command = `"${CLIENT_NODE}" "${clientFile('ccstatusline/dist/ccstatusline.js')}"`;
    await using ouro = await openOuro([says('Done.')], { cols: 120, settings: { statusLine: { command } } });
    await ouro.terminal.waitForText(/Model: sonnet 5\.5 \|/);
  });

  test('acpx drives ouro like any agent', async () => {
    await begin([calls(toolUse('Bash', { command: 'touch made' })), says('It is made.')]);
    const agent = ['--agent', 'ouro acp', '--approve-all', '--format', 'text'];
    const PATH = `${dirname(LAUNCHER)}:/usr/local/bin:/usr/bin:/bin`;
    expect(await using('acpx/dist/cli.js', [...agent, 'exec', 'make it'], { PATH })).toContain('It is made.');
    expect(await project.read('made')).toBe('');
  });

  test('the AI SDK streams through its provider for Claude Code', async () => {
    await begin([says('Hello from a model.')]);
    const provider = join(import.meta.dirname, '../../node_modules/ai-sdk-provider-claude-code/dist/index.js');
    const script = await project.write(
      'ask.mjs',
      `import { streamText } from ${JSON.stringify(clientFile('ai/dist/index.js'))};
       import { createClaudeCode } from ${JSON.stringify(provider)};
       const claude = createClaudeCode({ defaultSettings: { pathToClaudeCodeExecutable: ${JSON.stringify(LAUNCHER)} } });
       const { textStream } = streamText({ model: claude('sonnet'), prompt: 'hello' });
       for await (const part of textStream) process.stdout.write(part);`,
    );
    const { stdout } = await run(CLIENT_NODE, [script], {
      cwd: project.dir,
      env: bareEnvironment(project, server.url),
    });
    expect(stdout).toBe('Hello from a model.');
  });

  test('tdd-guard denies and allows edits, and uses ouro as its judge', async () => {
    const write = (name: string) =>
      calls(toolUse('Write', { file_path: join(project.dir, name), content: 'x = 1\n' }, name));
    const judged = (decision: 'block' | null) => says(JSON.stringify({ decision, reason: 'Write a test first.' }));
    await begin(({ raw, headers }) => {
      if (headers['x-api-key'] === 'sk-ant-judge') return judged(raw.includes('second.py') ? null : 'block');
      return [write('first.py'), write('second.py')][(raw.match(/"tool_result"/g) ?? []).length] ?? says('Done.');
    });
    // The judge has a key of its own: hooks do not get ours.
    const keys = `ANTHROPIC_API_KEY=sk-ant-judge ANTHROPIC_BASE_URL=${server.url}`;
    const claude = await project.write('../home/bin/claude', `#!/bin/sh\n${keys} exec "${LAUNCHER}" "$@"\n`);
    await chmod(claude, 0o755);
    const command = `"${CLIENT_NODE}" "${clientFile('tdd-guard/dist/cli/tdd-guard.js')}"`;
    const hook = { matcher: 'Write|Edit|MultiEdit|TodoWrite', hooks: [{ type: 'command', command }] };
    await project.write('../home/.ouro/settings.json', JSON.stringify({ hooks: { PreToolUse: [hook] } }));
    const PATH = `${dirname(claude)}:/usr/local/bin:/usr/bin:/bin`;
    const env = { VALIDATION_CLIENT: 'cli', USE_SYSTEM_CLAUDE: 'true', PATH };
    const args = ['-p', 'write both', '--permission-mode', 'acceptEdits'];
    expect(await runOuro(project, args, server.url, { env })).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: '' });
    expect(await readdir(project.dir)).toEqual(expect.arrayContaining(['second.py']));
    expect(await readdir(project.dir)).not.toContain('first.py');
    expect(server.requests().at(-1)?.raw).toContain('Write a test first.');
  });
});
