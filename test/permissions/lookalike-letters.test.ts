import { expect, test } from 'vitest';
import type { PermissionRequest } from '../../src/contracts/permission.ts';
import { hasLookalikeLetters } from '../../src/permissions/call-risks.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { createPermissionGate } from '../../src/permissions/permission-gate.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { makeFixture, policyFor } from './fixture.ts';

const fixture = makeFixture();
const finds = (command: string) => hasLookalikeLetters({ kind: 'shell', command });

/** Latin letters and letters that look like them. */
const PAIRS = [
  'aа',
  'cс',
  'eе',
  'oо',
  'pр',
  'xх',
  'yу',
  'iі',
  'sѕ',
  'oο',
  'vν',
  'aα',
  'oօ',
  'hһ',
  'jј',
  'dԁ',
  'aａ',
  'c𝐜',
  'kκ',
];

test('each lookalike of a Latin letter is found in a program, an option, a path or a host', () => {
  const lines = [
    'npm publish x',
    'scp a host:',
    'curl https://api.example.com/list',
    'git push origin main',
    'python3 deploy.py --yes',
  ];
  const replaced = lines.flatMap((line) =>
    PAIRS.flatMap(([latin = '', ...other]) =>
      [...line].flatMap((letter, at) =>
        letter === latin ? [`${line.slice(0, at)}${other.join('')}${line.slice(at + 1)}`] : [],
      ),
    ),
  );
  expect(replaced.length).toBeGreaterThan(60);
  // A letter that stands alone is no word of two scripts.
  expect(replaced.filter((line) => !finds(line) && !/(?:^| )\P{ASCII}(?: |$)/u.test(line))).toEqual([]);
});

test.each([
  'ѕсһ x',
  'сор x',
  'curl https://аррӏе.com',
  'curl https://xn--80ak6aa92e.com/x',
  'rm –rf x',
  'rm −rf x',
  'ｒｍ x',
  'echo ‘done; touch x’',
  'echo “a && rm -rf build”',
  'git commit -m ‘fix | sh’',
  'rm -rf build∕x',
  'cat src⁄a.ts',
])('a word of another alphabet is found where it is a name: %s', (command) => {
  expect(finds(command)).toBe(true);
});

test.each([
  'git commit -m "Исправить ошибку в модуле"',
  'echo "привет, world"',
  'echo "λ calculus – done… café naïve"',
  'grep -rn "ошибка" src',
  'touch документ.txt',
  'curl https://пример.рф/x',
  'echo "α = 1, β = 2"',
  'git commit -m "Use Größe and 日本語 names"',
  'ls src',
  'git commit -m "Don’t quote; use “typographic” signs (here) & ½∕¼"',
  "echo 'it’s done; really'",
  'echo it’s done',
  'grep -n "‘a’" x && ls',
])('text in another language is not a risk: %s', (command) => {
  expect(finds(command)).toBe(false);
});

test('lookalike letters are marked, and no rule with them is stored', async () => {
  for (const [tool, input] of [
    ['Bash', { command: 'nрm run build' }],
    ['Bash', { command: 'npm test && gіt fetch' }],
    ['WebFetch', { url: 'https://аррӏе.com/x', prompt: 'x' }],
    ['WebFetch', { url: 'https://xn--80ak6aa92e.com/x', prompt: 'x' }],
  ] as const) {
    const asked: PermissionRequest[] = [];
    const stored: unknown[] = [];
    const gate = createPermissionGate({
      getPolicy: () => policyFor(fixture),
      fs: diskFs,
      getToolFacts,
      newId: () => 'id',
      onDecision: () => undefined,
      changeMode: () => undefined,
      rememberRules: async (rules) => void stored.push(rules),
      async askUser(request) {
        asked.push(request);
        return { behavior: 'allow', remember: { rules: ['Bash(x)'], destination: 'user' } };
      },
    });
    await gate(
      { tool, callId: 'c', input, cwd: fixture.ws, title: 'x', isReadOnly: false },
      {},
      new AbortController().signal,
    );
    expect(
      asked.map(({ concealed, suggestions, exact, canRemember }) => [concealed, suggestions, exact, canRemember]),
    ).toEqual([['lookalike_letters', [], undefined, 'never']]);
    expect(stored).toEqual([]);
  }
});
