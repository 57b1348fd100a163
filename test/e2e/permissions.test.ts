import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { startOuro } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** The address of an API that is not asked. */
const UNREACHABLE = 'http://127.0.0.1:9';

const settings = (value: object) => ({ '.claude/settings.json': JSON.stringify(value) });
const lines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Every record of the only session of a project. */
async function records(project: TempProject) {
  const root = join(project.ouroHome, 'projects');
  const [folder = ''] = await readdir(root);
  const [file = ''] = (await readdir(join(root, folder))).filter((name) => name.endsWith('.jsonl'));
  return lines(await readFile(join(root, folder, file), 'utf8'));
}

test('ouro permissions explains one call, many cases, and finds rules without effect', async () => {
  await using project = await createTempProject(settings({ permissions: { deny: ['Bash(rm:*)'] } }));
  const one = await runHere(project, ['permissions', 'explain', '--allow', 'Bash(ls:*)', 'Bash', 'ls; rm x']);
  const rule = `Bash(rm:*) (${join(project.dir, '.claude/settings.json')}:1)`;
  expect(one).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`deny\n  deny     deny rm x is denied by ${rule}`),
  });
  const cases = '{"id":1,"tool":"Bash","input":"ls"}\nnot json\n{"id":2,"tool":"Bash","input":{"command":"rm x"}}';
  const many = await runHere(project, ['permissions', 'explain', '--batch'], undefined, { stdin: cases });
  expect(lines(many.stdout).map(({ id, verdict }) => [id, verdict])).toEqual([
    [1, 'allow'],
    [undefined, 'ask'],
    [2, 'deny'],
  ]);
  expect(many).toMatchObject({ code: 1, stderr: expect.stringContaining('Line 2: not JSON') });
  await project.write('lines', 'ls\n\nrm x\n');
  const listed = [
    await runHere(project, ['permissions', 'explain', '--batch', 'Bash', 'lines']),
    await runHere(project, ['permissions', 'explain', '--batch', 'Bash'], undefined, { stdin: 'ls\nrm x' }),
  ].map(({ code, stdout }) => [
    code,
    ...stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t').slice(0, 3).join(' ')),
  ]);
  expect(listed).toEqual([
    [0, 'allow list ls', 'deny rule rm x'],
    [0, 'allow list ls', 'deny rule rm x'],
  ]);
  const missing = await runHere(project, ['permissions', 'explain', '--batch', 'Bash', 'missing']);
  expect(missing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('missing cannot be read') });
  const lint = await runHere(project, ['permissions', 'lint', '--allow', 'Bash(rm -f a)']);
  expect(lint).toMatchObject({ code: 1, stdout: expect.stringContaining('shadowed: Bash(rm -f a)') });
  expect(await runHere(project, ['permissions', 'prove'])).toMatchObject({ code: 2, stdout: '' });
});

test('a folder is trusted, listed, changed, approved again and removed', async () => {
  await using project = await createTempProject(settings({ permissions: { allow: ['Bash(touch:*)'] } }));
  const explained = async () => {
    const { stdout, stderr } = await runHere(project, ['permissions', 'explain', 'Bash', 'touch x']);
    return [
      stdout.split('\n')[0],
      stderr.includes('not trusted') ? 'untrusted' : stderr.includes('changed') ? 'changed' : 'trusted',
    ];
  };
  expect(await explained()).toEqual(['ask', 'untrusted']);
  expect((await runHere(project, ['trust'])).stdout).toContain('rule         allows Bash(touch:*)');
  expect(await explained()).toEqual(['allow', 'trusted']);
  expect((await runHere(project, ['trust', '--list'])).stdout).toContain(project.dir);
  await project.write('.claude/settings.json', JSON.stringify({ permissions: { allow: ['Bash'] } }));
  expect(await explained()).toEqual(['ask', 'changed']);
  await runHere(project, ['trust', '--revoke']);
  expect(await explained()).toEqual(['ask', 'untrusted']);
});

longTest('-p denies what it would have to ask, names the rule that allows it, and logs every decision', async () => {
  await using project = await createTempProject(settings({ permissions: { deny: ['Read(secret/**)'] } }));
  await project.write('secret/key', 'hush');
  await using server = await startApiServer({
    turns: [
      calls(
        toolUse('Bash', { command: 'npm test' }, 'a'),
        toolUse('Bash', { command: 'cat secret/key' }, 'b'),
        toolUse('Grep', { pattern: 'hush', output_mode: 'content' }, 'c'),
        toolUse('Write', { file_path: 'new.txt', content: 'x' }, 'd'),
        toolUse('Bash', { command: 'ls' }, 'e'),
        toolUse('Bash', { command: 'make it' }, 'f'),
      ),
      says('done'),
    ],
  });
  const args = [
    '-p',
    'go',
    '--output-format',
    'json',
    '--allowedTools',
    'Bash(make:*)',
    '--permission-mode',
    'default',
  ];
  const { stdout, code } = await runHere(project, args, server.url);
  expect(code).toBe(0);
  const { permission_denials: denials } = JSON.parse(stdout);
  expect(denials).toMatchObject([
    { tool_use_id: 'a', reason: expect.stringContaining('--allowedTools "Bash(npm test:*)"') },
    { tool_use_id: 'b', reason: expect.stringContaining('Read(secret/**)') },
    { tool_use_id: 'd', reason: expect.stringContaining('acceptEdits') },
  ]);
  const results = JSON.stringify(server.requests()[1]?.body.messages);
  expect(results).not.toContain('hush\\n');
  const reported = (await records(project)).filter(({ type }) => type === 'permission');
  expect(reported.map(({ callId, verdict }) => [callId, verdict])).toEqual([
    ['a', 'deny'],
    ['b', 'deny'],
    ['c', 'allow'],
    ['d', 'deny'],
    ['e', 'allow'],
    ['f', 'allow'],
  ]);
  expect(reported[1]).toMatchObject({
    tool: 'Bash',
    trace: [{ stage: 'deny', rule: 'Read(secret/**)', source: 'project', line: 1 }],
  });
});

test.each(
  someOf(
    [
      ['plan', 'denied'],
      ['acceptEdits', 'written'],
      ['dontAsk', 'denied'],
    ],
    2,
  ),
)('in mode %s an edit is %s', async (mode, outcome) => {
  await using project = await createTempProject();
  await using server = await startApiServer({
    turns: [calls(toolUse('Write', { file_path: 'new.txt', content: 'x' })), says('done')],
  });
  const { code } = await runHere(project, ['-p', 'go', '--permission-mode', mode], server.url);
  const written = await stat(join(project.dir, 'new.txt')).then(
    () => 'written',
    () => 'denied',
  );
  expect([code, written]).toEqual([0, outcome]);
});

test('a host receives suggestions, and its answer applies from then on', async () => {
  await using project = await createTempProject();
  await using server = await startApiServer({
    turns: [
      calls(toolUse('Bash', { command: 'touch one' }, 'a')),
      calls(toolUse('Bash', { command: 'touch one' }, 'b')),
      calls(toolUse('Bash', { command: 'touch .git/x' }, 'c')),
      says('done'),
    ],
  });
  const args = ['--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose', '--trust'];
  await using ouro = startOuro(project, [...args, '--permission-prompt-tool', 'stdio'], server.url, { stdin: 'open' });
  ouro.sendLine({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null, session_id: '' });
  const asked: unknown[] = [];
  let result: unknown;
  for await (const line of ouro.lines()) {
    const said = JSON.parse(line);
    if (said.type === 'result') {
      result = said;
      break;
    }
    if (said.type !== 'control_request') continue;
    const { tool_use_id: id, permission_suggestions: suggestions, decision_reason: reason } = said.request;
    asked.push([id, suggestions, reason]);
    const [rule] = suggestions;
    const response =
      rule === undefined
        ? { behavior: 'deny', message: 'not there' }
        : {
            behavior: 'allow',
            updatedInput: said.request.input,
            updatedPermissions: [{ ...rule, destination: 'localSettings' }],
          };
    ouro.sendLine({
      type: 'control_response',
      response: { subtype: 'success', request_id: said.request_id, response },
    });
  }
  const suggestion = {
    type: 'addRules',
    rules: [{ toolName: 'Bash', ruleContent: 'touch one' }],
    behavior: 'allow',
    destination: 'session',
  };
  expect(asked).toEqual([
    ['a', [suggestion], expect.stringContaining('changes the workspace')],
    ['c', [], expect.stringContaining('files in .git decide what other programs run')],
  ]);
  expect(result).toMatchObject({
    permission_denials: [
      {
        tool_use_id: 'c',
        reason:
          'The application that runs this session refused this call; nothing was run or changed. It says: not there',
      },
    ],
  });
  expect(JSON.parse(await project.read('.claude/settings.local.json'))).toEqual({
    permissions: { allow: ['Bash(touch one)'] },
  });
});

longTest('/permissions and /why work without a screen', async () => {
  await using project = await createTempProject(settings({ permissions: { deny: ['Bash(rm:*)', 'Bosh(x)'] } }));
  const { stdout, stderr } = await runHere(project, ['-p', '/permissions'], UNREACHABLE);
  expect(stdout).toContain('Permissions: mode default');
  expect(stdout).toMatch(/deny +Bash\(rm:\*\) +\.claude\/settings\.json:1\n. deny/);
  expect(stdout).toContain('not trusted');
  expect(stderr).toContain('Bosh(x)');
  expect((await runHere(project, ['-p', '/why'], UNREACHABLE)).stderr).toContain('No decisions yet.');
});

longTest(
  'a refusal by a hook is reported like any denial: in the result and the transcript, with its reason',
  async () => {
    await using project = await createTempProject(
      settings({
        hooks: {
          PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'echo not today >&2; exit 2' }] }],
        },
      }),
    );
    await using server = await startApiServer({
      turns: [calls(toolUse('Bash', { command: 'ls' }, 'a')), says('done')],
    });
    const { stdout } = await runHere(project, ['-p', 'go', '--trust', '--output-format', 'json'], server.url);
    expect(JSON.parse(stdout).permission_denials).toMatchObject([
      { tool_use_id: 'a', reason: expect.stringContaining('not today') },
    ]);
    expect((await records(project)).filter(({ type }) => type === 'permission')).toMatchObject([
      { callId: 'a', verdict: 'deny', trace: [{ stage: 'hook' }] },
    ]);
  },
);
