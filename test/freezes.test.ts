import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTurnFingerprint } from '../src/engine/phases/fingerprint-turn.ts';
import { parseHookMatcher } from '../src/hooks/parse-matcher.ts';
import { parseGitConfig } from '../src/lib/text/git-config.ts';
import { createTextToolCallSplitter } from '../src/model/providers/openai-chat/text-tool-calls.ts';
import { createGlobTool } from '../src/tools/glob.ts';
import { createGrepTool } from '../src/tools/grep.ts';
import { findFailedTests } from '../src/ui/widgets/tool-calls/failed-tests.ts';
import { decideTool, type Fixture, makeFixture } from './permissions/fixture.ts';
import { runs, someOf } from './support/runs.ts';
import { callTool, createWorkbench } from './tools/file-workbench.ts';
import { locators } from './tools/search/search-backends.ts';

/** Nothing a model, a file or a rule says keeps keys from being heard; all tests at once make everything three times slower. */
const RESPONSE_MS = 400;

/** The longest time in which no key would have been heard while the work ran, by the time of this thread alone. */
async function deafness(work: () => unknown): Promise<number> {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [last, longest] = [spent(), 0];
  const look = () => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const ticking = setInterval(look, 2);
  await Promise.resolve(work()).catch(() => undefined);
  look();
  clearInterval(ticking);
  return longest;
}

/** The least of three, because programs that share its core cost the thread time, too; once is enough where that was little. */
const received = async (name: string, work: () => unknown) => {
  let ms = await deafness(work);
  for (let turn = 1; turn < 3 && ms >= RESPONSE_MS; turn += 1) ms = Math.min(ms, await deafness(work));
  expect([name, ms < RESPONSE_MS ? 'heard' : `deaf for ${Math.round(ms)} ms`]).toEqual([name, 'heard']);
};

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  writeFileSync(join(fixture.ws, 'a'.repeat(250)), `${'a'.repeat(40_000)}b\n`);
  mkdirSync(join(fixture.ws, 'many'));
  for (let at = 0; at < 300; at += 1) writeFileSync(join(fixture.ws, 'many', `file${at}`), 'x\n');
});

/** `#` is another number each time, so that nothing is the same twice. */
const PIECES = [
  'cd d# && nobody-knows x# y# z#; ',
  'nobody-knows m*/f*# ',
  'cat {a..z}# ',
  'grep -rn x# many; ',
  'nobody-knows --a=.e*# ',
  'cp a# b# ',
  'find . -exec find . ',
  'find . -exec ls {} \\; ',
  'cd d; ',
  'cd d || ',
  'cd d && cd ..; ',
  'echo $(',
  '$(',
  '`',
  '<(cat ',
  '${a:-',
  "sh -c '",
  'bash -c "',
  'eval ',
  'sudo ',
  'env A=1 ',
  'timeout 1 ',
  'xargs ',
  'a|xargs ',
  '> a ',
  '< a ',
  'a=1 ',
  'for i in 1 2; do ',
  'if ls; then ',
  '{a,b}',
  '*a',
  '**/',
  '[a-z]*',
  '?',
  '../',
  'd/',
  'cp a b ',
  'git -c a=b ',
  'cat <<A\n',
  "sed 's/a/b/' ",
  "awk '{print}' ",
  '-name a -o ',
  '\\( ',
  '"',
  "'",
  '(',
  '{ ',
  '! ',
  '; ',
  ' | ',
  '\\',
];
const DENY = [
  'Bash(curl:*)',
  'Bash(* * * x)',
  'Bash(*a*a*a*b)',
  'Read(**/**/**/*a*a*a*b)',
  'Read(.env)',
  'Edit(/**/**/*b)',
];

function numbered(text: string): string {
  return text
    .split('#')
    .map((piece, at) => `${at === 0 ? '' : at}${piece}`)
    .join('');
}

describe('a shell command', () => {
  const decided = (command: string, deny: readonly string[]) => () =>
    decideTool(fixture, 'Bash', { command }, { deny, ...(deny.length === 0 ? {} : { allow: ['Bash'] }) });

  test.each(someOf(PIECES, 3))('consisting of %j only', async (piece) => {
    const line = (characters: number) => numbered(piece.repeat(Math.ceil(characters / piece.length)));
    await received('20,000 characters', decided(line(20_000), DENY));
    await received('9,000 characters', decided(`ls ${line(9_000)}`, []));
  });

  test('of any of these', async () => {
    const line = fc.tuple(
      fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 2_000 }),
    );
    await fc.assert(
      fc.asyncProperty(line, async ([pieces, times]) => {
        const command = numbered(pieces.join('').repeat(times).slice(0, 20_000));
        await received(command.slice(0, 200), decided(command, DENY));
      }),
      runs(100),
    );
  });

  test('that is too deeply nested or too long asks in every mode, and is denied without a user', () => {
    for (const command of ['$('.repeat(100) + ')'.repeat(100), `echo ${'a'.repeat(200_000)}`]) {
      const verdicts = (['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk'] as const).map(
        (mode) => decideTool(fixture, 'Bash', { command }, { mode, allow: ['Bash'] }).verdict,
      );
      expect(verdicts).toEqual(['ask', 'ask', 'ask', 'deny', 'deny']);
    }
  });
});

const EVIL = ['*a', '**/', '*', '?*', '{a,*}', '{*a,**/}', '[ab]*', '{{a,*},*}'].flatMap((piece) => [
  `${piece.repeat(40)}c`,
  `${piece.repeat(200)}c`,
]);

test.each(someOf(EVIL, 4).map((glob) => [glob.slice(0, 12), glob.length, glob] as const))(
  'a rule, a path and a matcher made of %s… (%i)',
  async (_, __, glob) => {
    const rules = { deny: [`Read(${glob})`, `Bash(${glob})`, `mcp__${glob}`, `Task(${glob})`] };
    const long = 'a'.repeat(250);
    await received('Read', () => decideTool(fixture, 'Read', { file_path: long }, rules));
    await received('Bash', () => decideTool(fixture, 'Bash', { command: `cat ${long} ${glob}` }, rules));
    await received('find', () => decideTool(fixture, 'Bash', { command: `find . -name '${glob}'` }, rules));
    await received('Task', () => decideTool(fixture, 'Task', { subagent_type: long }, rules));
    await received('hook', () => parseHookMatcher(`(${glob.replaceAll('{', '(?:')})+`));
  },
);

test.each(someOf(['1', 'a', '_', '1:', '2024-', ' ', '\n', 'ab1 '], 3))(
  'a result made of %j is compared with earlier ones',
  async (piece) => {
    const content = piece.repeat(200_000 / piece.length);
    const block = { type: 'tool_use', id: 'call', name: 'Bash', input: { command: content.slice(0, 50_000) } } as const;
    const result = { type: 'tool_result', tool_use_id: 'call', content, is_error: false } as const;
    const completion = { status: 'done', outcome: { content }, attachments: [] } as const;
    const call = { block, result, completion, title: 'Command', durationMs: 1 };
    await received('fingerprint', () => createTurnFingerprint(undefined, [call]));
  },
);

test.each(someOf(['1', 'A', ' ', '/', 'a.', '# ', 'want '], 3))(
  'rows made of %j are searched for failed tests',
  async (piece) => {
    const row = piece.repeat(60_000 / piece.length);
    await received('failed tests', () => findFailedTests([`✖ ${row}`, row, `not ok 1 ${row}`]));
  },
);

test.each(['"" ', '\\\n', 'a=""\n', '[a]\n', ' '])('a git configuration made of %j is parsed', async (piece) => {
  await received('git config', () => parseGitConfig(`[a]\nb = ${piece.repeat(240_000 / piece.length)}`));
});

test.each(['\n', '\r\n', ' ', '<tool_call>', '`'])('a reply made of %j is searched for tool calls', async (piece) => {
  const splitter = createTextToolCallSplitter(new Set(['Read']));
  await received('tool calls', () => splitter.push(piece.repeat(200_000 / piece.length)));
  await received('end', () => splitter.flush());
});

describe.each(locators)('a search with %s', (_, locator) => {
  let bench: Awaited<ReturnType<typeof createWorkbench>>;
  beforeAll(async () => {
    bench = await createWorkbench();
    writeFileSync(bench.at('a'.repeat(250)), `${'a'.repeat(40_000)}b\n`);
    writeFileSync(bench.at('.gitignore'), `${'*a'.repeat(100)}c\n`);
  });
  afterAll(() => bench.remove());

  test('for any pattern', async () => {
    const parts = { locator, home: bench.home, excluded: () => EVIL.map((glob) => `/${glob}`) };
    for (const pattern of someOf(EVIL, 4))
      await received(pattern, () => callTool(createGlobTool(parts), { pattern }, bench));
    for (const pattern of someOf(['(a+)+c', '(a|a)*c', '(.*a){15}c', '(a*)*(a*)*c'], 2))
      await received(pattern, () =>
        callTool(createGrepTool(parts), { pattern, glob: EVIL[0], multiline: true }, bench),
      );
  });
});
