import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, promptTooLong, reply, says, status, text, thinking, toolUse } from '../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** What scripts read is a promise: every byte of it is compared, but what no two runs share. */
let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

/** One conversation with everything in it: words, a call, a denial, an answer. */
const TURNS = [
  calls(text('I look.'), toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')),
  calls(toolUse('Bash', { command: 'make all' }, 'toolu_2')),
  says('It says **alpha**.'),
];

async function run(script: Script, ...flags: readonly string[]) {
  server = await startApiServer(script);
  return runHere(project, ['-p', 'what does a.txt say?', '--model=claude-sonnet-4-5', ...flags], server.url);
}

/**
 * Replaces ids, times and paths by fixed words, and empties lists that grow with the program. A call is denied while its
 * reply still streams, so the denial may come before or after the cost of the reply: it is put first.
 */
function steady(stdout: string): string {
  return putDenialsFirst(stdout)
    .replaceAll(project.dir, '/project')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"(duration_ms|duration_api_ms|ttft_ms)":\d+/g, '"$1":0')
    .replace(/"(tools|slash_commands|agents|skills)":\[[^\]]*\]/g, '"$1":[]')
    .replace(/"(ouro_version|claude_code_version)":"[^"]*"/g, '"$1":"VERSION"');
}

function putDenialsFirst(stdout: string): string {
  const isArray = stdout.startsWith('[');
  const lines = isArray ? JSON.parse(stdout).map((line: unknown) => JSON.stringify(line)) : stdout.split('\n');
  for (const [at, line] of lines.entries())
    if (line.includes('"subtype":"spend"') && lines[at + 1]?.includes('"subtype":"permission_denied"'))
      lines.splice(at, 2, lines[at + 1], line);
  return isArray ? `[${lines.join(',')}]\n` : lines.join('\n');
}

test('text output is the answer and nothing else', async () => {
  expect(await run({ turns: TURNS })).toMatchObject({ code: 0, stdout: 'It says **alpha**.\n', stderr: '' });
});

test.each(
  someOf(
    [
      ['json', ['--output-format=json']],
      ['json-verbose', ['--output-format=json', '--verbose']],
      ['stream-json', ['--output-format=stream-json', '--verbose']],
    ],
    1,
  ),
)('%s is unchanged', async (name, flags) => {
  const { code, stdout, stderr } = await run({ turns: TURNS }, ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await expect(steady(stdout)).toMatchFileSnapshot(`golden/${name}.txt`);
});

longTest('stream-json with partial messages is unchanged', async () => {
  // Without calls: those run while their reply still streams, and end when they like.
  const { stdout } = await run(
    { turns: [reply([thinking('Let me see.'), text('It says **alpha**.')])] },
    ...['--output-format=stream-json', '--verbose', '--include-partial-messages', '--effort=high'],
  );
  await expect(steady(stdout)).toMatchFileSnapshot('golden/stream-json-partial.txt');
});

const answer = { n: 1 };
const schema = JSON.stringify({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] });
const hook = (command: string) =>
  JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] } });
const stopHook = JSON.stringify({
  hooks: { Stop: [{ hooks: [{ type: 'command', command: `echo '{"continue":false,"stopReason":"enough"}'` }] }] },
});

test.each<readonly [string, Script, readonly string[], object]>(
  someOf(
    [
      ['completed', { turns: [says('fine')] }, [], { code: 0, subtype: 'success', is_error: false }],
      [
        'completed',
        { turns: [calls(toolUse('StructuredOutput', answer))] },
        [`--json-schema=${schema}`],
        { code: 0, subtype: 'success', is_error: false },
      ],
      ['stop_hook_prevented', { turns: [says('x')] }, [`--settings=${stopHook}`], { code: 0, subtype: 'success' }],
      ['max_turns', { turns: TURNS }, ['--max-turns=1'], { code: 1, subtype: 'error_max_turns', is_error: true }],
      [
        'budget_exhausted',
        { turns: TURNS },
        ['--max-budget-usd=0.0001'],
        { code: 1, subtype: 'error_max_budget_usd', is_error: true },
      ],
      [
        'structured_output_failed',
        { turns: [], after: calls(toolUse('StructuredOutput', { n: 'one' })) },
        [`--json-schema=${schema}`],
        { code: 1, subtype: 'error_max_structured_output_retries', is_error: true },
      ],
      [
        'structured_output_failed',
        { turns: [], after: says('in words only') },
        [`--json-schema=${schema}`],
        { code: 1, subtype: 'error_max_structured_output_retries', is_error: true },
      ],
      ['refusal', { turns: [], after: reply([], { stop: 'refusal' }) }, [], { code: 1, is_error: true }],
      [
        'max_output_tokens',
        { turns: [], after: reply([text('and so on')], { stop: 'max_tokens' }) },
        [],
        { code: 1, is_error: true },
      ],
      ['prompt_too_long', { turns: [], after: promptTooLong() }, [], { code: 1, is_error: true }],
      ['api_error', { turns: [], after: status(403) }, [], { code: 1, subtype: 'success', is_error: true }],
    ],
    3,
  ),
)('%s: exit code, subtype and reason agree', async (reason, script, flags, expected) => {
  const { code, stdout } = await run(script, '--output-format=json', ...flags);
  const { subtype, is_error, terminal_reason } = JSON.parse(stdout);
  expect({ code, subtype, is_error, terminal_reason }).toMatchObject({ ...expected, terminal_reason: reason });
  expect(code === 0).toBe(is_error === false);
});

test('a prompt blocked by a hook costs no request, and the reason is the answer', async () => {
  const { code, stdout } = await run(
    { turns: [] },
    '--output-format=json',
    `--settings=${hook('echo no >&2; exit 2')}`,
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    terminal_reason: 'hook_stopped',
    is_error: false,
    result: expect.stringMatching(/no/),
  });
  expect(server.all()).toEqual([]);
});

test('a failure in text mode is reported on stderr only', async () => {
  expect(await run({ turns: [], after: status(403) })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/403/),
  });
});
