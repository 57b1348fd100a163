import { expect, test } from 'vitest';
import { someOf } from '../../../support/runs.ts';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const CURL: Setup = { allow: ['Bash'], deny: ['Bash(curl:*)'] };
const open = (lines: readonly string[]) => lines.filter((line) => decideBash(fixture, line, CURL).verdict === 'allow');

/** Programs of the table that start others, and some that nobody knows. */
const STARTING = ['setpriv', 'prlimit', 'nobody-knows', 'nice -n 5', 'rlwrap', 'nobody-knows --fast'];
/** Ways to put `curl` together so that no word of the line says it. */
const MAKING = [
  'rev <<< lruc',
  'echo lruc | rev',
  'printf %s%s cu rl',
  'base64 -d <<< Y3VybAo=',
  'echo cu.rl | tr -d .',
  `jq -rn '"cu"+"rl"'`,
  'head -c4 <<< curlx',
  'compgen -c cur',
  "ls /usr/bin | grep '^cur.$'",
];

test('an unknown name is not passed to a program that may start it', () => {
  const lines = STARTING.flatMap((starting) =>
    MAKING.flatMap((making) => [
      `${starting} $(${making}) x`,
      `${starting} "$(${making})"`,
      `${making} | xargs ${starting}`,
      `${making} | xargs -I{} ${starting} {} x`,
      `${making} | while read -r c; do ${starting} "$c"; done`,
    ]),
  );
  expect(open(someOf(lines, 30))).toEqual([]);
});

test('a name found elsewhere is not started', () => {
  const lines = STARTING.flatMap((starting) => [
    `find /usr/bin -name 'cur?' -exec ${starting} {} x \\;`,
    `find /usr/bin -regex '.*/c.rl' -exec ${starting} {} +`,
    `find ../../../usr/bin -size +1k -exec ${starting} {} \\;`,
    `find rl -exec ${starting} cu{} \\;`,
    `${starting} zz/c?rl`,
  ]);
  expect(open(someOf(lines, 15))).toEqual([]);
});

test('names below the working folder, and text that names no program, are not asked about', () => {
  const lines = [
    'nobody-knows $(git ls-files)',
    'nobody-knows --jobs=$(nproc) x',
    'nobody-knows "$(date +%F)"',
    'git ls-files | xargs nobody-knows --check',
    "find src -name '*.ts' -exec nobody-knows {} +",
    'for f in src/*.ts; do nobody-knows "$f"; done',
    'nobody-knows $(find src -name x)',
  ];
  const stopped = lines.filter((line) => decideBash(fixture, line, CURL).verdict !== 'allow');
  expect(stopped).toEqual([]);
});
