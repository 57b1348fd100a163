import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseInvocation } from '../../../src/cli/args/invocation.ts';
import { defineFlag } from '../../../src/command/define-flag.ts';
import { parseFlagValues } from '../../../src/command/flag-values.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const MISSING = join(createTempFolder(), 'missing');
const AROUND = { cwd: '/project', hasTerminal: true };
const read = (...args: readonly string[]) => parseInvocation(args, AROUND);
const readIn = (cwd: string, ...args: readonly string[]) => parseInvocation(args, { ...AROUND, cwd });

test('no arguments give empty options', async () => {
  expect(await read()).toEqual({
    run: {
      cwd: '/project',
      frontend: 'screen',
      session: { kind: 'new' },
      loadImports: expect.any(Function),
      persistence: 'disk',
      partialMessages: false,
      addDirs: [],
      mcpConfig: [],
      mcpSources: 'all',
      debug: 'off',
    },
    mode: 'screen',
    prompt: undefined,
    output: {
      format: 'text',
      detail: 'result',
      partialMessages: false,
      hookEvents: false,
      replayUserMessages: false,
      onUsageLimit: 'stop',
    },
    rendering: 'screen',
    awaitsInitialize: false,
    warnings: [],
  });
});

test('every flag reaches the options, with = and with a space', async () => {
  const dir = createTempFolder();
  mkdirSync(join(dir, 'more'));
  writeFileSync(join(dir, 'a.json'), '{}');
  const { run } = await readIn(
    dir,
    ...['-p', 'fix it', '--model=opus', '--fallback-model', 'sonnet,haiku', '--effort', 'high'],
    ...['--max-thinking-tokens=2000', '--betas=a,b', '--permission-mode', 'plan', '--allowedTools', 'Read,Bash(git *)'],
    ...['--disallowed-tools=WebFetch', '--tools=Read Edit', '--permission-prompt-tool=mcp__a__ask', '--trust'],
    ...[
      '--max-turns=3',
      '--max-budget-usd',
      '0.5',
      '--token-budget=900',
      '--json-schema={"type":"object"}',
      '--add-dir',
      'more',
      '/',
    ],
    ...['--settings={"model":"x"}', '--setting-sources=user,project', '--mcp-config', 'a.json', '{"mcpServers":{}}'],
    ...['--strict-mcp-config', '--agents={"a":{}}', '--agent=a', '--system-prompt=be', '--append-system-prompt=more'],
    ...['--debug-file=log.jsonl', '--no-session-persistence', '--allow-dangerously-skip-permissions'],
  );
  expect(run).toEqual({
    cwd: dir,
    frontend: 'print',
    model: 'opus',
    fallbackModels: ['sonnet', 'haiku'],
    effort: 'high',
    maxThinkingTokens: 2000,
    betas: ['a', 'b'],
    permissionMode: 'plan',
    allowedTools: ['Read', 'Bash(git *)'],
    disallowedTools: ['WebFetch'],
    tools: ['Read', 'Edit'],
    permissionPrompt: 'mcp__a__ask',
    trust: 'this-run',
    skipPermissions: 'may',
    maxTurns: 3,
    maxBudgetUsd: 0.5,
    tokenBudget: 900,
    jsonSchema: { type: 'object' },
    addDirs: [join(dir, 'more'), '/'],
    settings: '{"model":"x"}',
    settingSources: ['user', 'project'],
    mcpConfig: ['a.json', '{"mcpServers":{}}'],
    mcpSources: 'flags-only',
    agents: { a: {} },
    agent: 'a',
    systemPrompt: 'be',
    appendSystemPrompt: 'more',
    debug: 'log',
    debugFile: join(dir, 'log.jsonl'),
    loadImports: expect.any(Function),
    persistence: 'memory',
    session: { kind: 'new' },
    partialMessages: false,
  });
});

test.each([
  [['--thinking=disabled', '--effort=high'], { effort: 'off', maxThinkingTokens: 0 }],
  [['--thinking=adaptive'], { effort: 'auto' }],
  [['--thinking=adaptive', '--effort=low'], { effort: 'low' }],
  [['--effort=xhigh'], { effort: 'xhigh' }],
])('%j sets the thinking mode', async (args, expected) => {
  const { effort, maxThinkingTokens } = (await read(...args)).run;
  expect({ effort, maxThinkingTokens }).toEqual({ maxThinkingTokens: undefined, ...expected });
});

test('system prompts can be read from files', async () => {
  const dir = createTempFolder();
  writeFileSync(join(dir, 'prompt.md'), 'from the file');
  const { run } = await parseInvocation(['-p', 'x', '--system-prompt-file', 'prompt.md'], { ...AROUND, cwd: dir });
  expect(run.systemPrompt).toBe('from the file');
});

test.each([
  [['-c'], { kind: 'continue', fork: 'same' }],
  [['--resume=abc', '--resume-session-at=m'], { kind: 'resume', wanted: 'abc', fork: 'same', at: 'm' }],
  [['--resume', 'abc', '--fork-session'], { kind: 'resume', wanted: 'abc', fork: 'fork' }],
  [['-r'], { kind: 'resume', wanted: '', fork: 'same' }],
  [
    ['--session-id', '6f9619ff-8b86-4d01-b42d-00c04fc964ff'],
    { kind: 'new', id: '6f9619ff-8b86-4d01-b42d-00c04fc964ff' },
  ],
])('%j selects its session', async (args, session) => {
  expect((await read(...args)).run.session).toEqual(session);
});

describe('permission mode', () => {
  test.each([
    [['-p', 'x'], true, 'print'],
    [['x'], true, 'screen'],
    [['x'], false, 'print'],
    [['x', '--output-format', 'json'], true, 'print'],
    [['--input-format=stream-json', '--output-format=stream-json', '--verbose'], false, 'host'],
  ] as const)('of %j with a terminal: %s', async (args, hasTerminal, mode) => {
    expect((await parseInvocation(args, { cwd: '/', hasTerminal })).mode).toBe(mode);
  });
});

test('unquoted arguments are one prompt, and arguments after -- are never flags', async () => {
  expect((await read('-p', 'fix', 'the', 'build')).prompt).toBe('fix the build');
  expect((await read('-p', '--', '--version', 'is wrong')).prompt).toBe('--version is wrong');
});

test.each([
  [['--modle', 'x'], 'Unknown option --modle. Did you mean --model? See ouro --help.'],
  [['--qqqqqqqqqq'], 'Unknown option --qqqqqqqqqq. See ouro --help.'],
  [['--model'], 'Option --model needs a value: --model <name>.'],
  [['--effort=huge'], /^Option --effort: value 'huge' is invalid\. Allowed choices are auto, off, low/],
  [['--max-turns=none'], 'Option --max-turns must be a whole number of at least 1, not "none".'],
  [['--session-id=1'], 'Option --session-id must be a UUID.'],
  [['-p', 'x', '--json-schema={'], /^Option --json-schema is not valid JSON: /],
  [
    ['-p', 'x', '--json-schema={"type":"nope"}'],
    /^Option --json-schema: Answers cannot be validated with this schema: /,
  ],
  [['-p', 'x', '--json-schema=[]'], 'Option --json-schema must be a JSON object.'],
  [['-c', '--resume=x'], /^--continue and --resume cannot be combined/],
  [['--resume-session-at=m'], /^--resume-session-at needs a session/],
  [['--fork-session'], /^--fork-session needs a session/],
  [['-c', '--session-id=6f9619ff-8b86-4d01-b42d-00c04fc964ff'], /add --fork-session\.$/],
  [['--system-prompt=a', '--system-prompt-file=b'], 'Give --system-prompt or --system-prompt-file, not both.'],
  [[`--system-prompt-file=${MISSING}`], `Option --system-prompt-file: ${MISSING} does not exist.`],
  [
    ['--system-prompt-file=/dev/zero'],
    'Option --system-prompt-file: /dev/zero cannot be read: it is not a regular file.',
  ],
  [['--dangerously-skip-permissions', '--permission-mode=plan'], /contradict each other/],
  [['-p', 'x', '--output-format=stream-json'], /add --verbose\.$/],
  [['--input-format=stream-json'], '--input-format stream-json needs --output-format stream-json.'],
  [['-p', 'x', '--include-partial-messages'], '--include-partial-messages needs --output-format stream-json.'],
  [['-p', 'x', '--permission-prompt-tool=stdio'], '--permission-prompt-tool stdio needs --input-format stream-json.'],
  [['x', '--json-schema={}'], '--json-schema needs -p.'],
  [
    ['x', '--permission-prompt-tool=mcp__a__b'],
    '--permission-prompt-tool needs -p: in interactive mode you are asked yourself.',
  ],
  [['-p', 'x', '--include-hook-events'], '--include-hook-events needs --output-format stream-json.'],
  [['--agents=[1]'], 'Option --agents must be a JSON object.'],
  [['--effort=off', '--max-thinking-tokens=9'], /contradict each other/],
  [['--thinking=disabled', '--max-thinking-tokens=9'], /contradict each other/],
  [['--setting-sources=user,projct'], 'Option --setting-sources: unknown source "projct". Did you mean project?'],
  [['--settings=nope.json'], 'Option --settings: file nope.json not found.'],
  [['--settings={bad'], /^Option --settings is not valid JSON/],
  [['--mcp-config', 'nope.json', '--', 'x'], 'Option --mcp-config: file nope.json not found.'],
  [
    ['--input-format=stream-json', '--output-format=stream-json', '--verbose', 'hello'],
    '--input-format stream-json reads prompts from stdin. Remove the prompt argument.',
  ],
  [['--add-dir=nowhere'], 'Option --add-dir: nowhere is not a folder.'],
])('%j is refused in one sentence', async (args, words) => {
  await expect(read(...args)).rejects.toThrow(words);
});

test('for an SDK host an unknown flag is a warning', async () => {
  const { warnings, mode } = await read(
    ...[
      '--output-format',
      'stream-json',
      '--verbose',
      '--input-format',
      'stream-json',
      '--brand-new=1',
      '--other',
      '2',
    ],
  );
  expect({ warnings, mode }).toEqual({
    mode: 'host',
    warnings: ['Ignoring unknown option --brand-new.', 'Ignoring unknown option --other.'],
  });
});

test('lists are split at commas and spaces, but not inside a rule', () => {
  const splitList = (rules: readonly string[]) =>
    parseFlagValues({ rules: defineFlag('--rules <rules...>', 'list', '') }, { rules }).rules;
  expect(splitList(['Read,Bash(git log, git diff:*) Edit', 'Write'])).toEqual([
    'Read',
    'Bash(git log, git diff:*)',
    'Edit',
    'Write',
  ]);
  expect(splitList([''])).toEqual([]);
});
