import { expect, test } from 'vitest';
import { decideBash, makeFixture, type Setup } from './fixture.ts';

const fixture = makeFixture();
const listRefused = (commands: readonly string[], setup: Setup) =>
  commands.flatMap((command) => {
    const { verdict, reasons } = decideBash(fixture, command, setup);
    return verdict === 'allow' ? [] : [[command, ...reasons]];
  });
const NPM_TEST = { allow: ['Bash(npm test:*)', 'Bash(curl http://localhost:3000/*)'] };

/** Each runs unasked by itself. */
const READING = [
  ...['date', 'date +%s', 'sleep 1', 'nproc', 'whoami', 'id -u', 'uname -a', 'seq 3', 'hostname -s', 'uptime'],
  ...['du -sh .', 'tr a b', 'cut -d: -f1 README.md', 'sed -n 1p README.md', 'jq .name package.json', 'stat README.md'],
  ...[
    'sort README.md',
    'uniq README.md',
    'diff README.md package.json',
    'which node',
    'node --version',
    'file README.md',
  ],
  ...[
    "awk '{print $1}' README.md",
    'bash -n x.sh',
    'node --check a.js',
    'node -p process.version',
    'go version',
    'tree -L 2',
  ],
  ...[
    'du -sh src',
    'head -3 README.md',
    'wc -l README.md',
    'cat README.md',
    'ls',
    'pwd',
    'echo done',
    'grep -rn line .',
  ],
  ...[
    'cd src && grep -rn line .',
    'sort README.md | uniq -c',
    'ls | head -3',
    'true',
    'git status',
    'git diff | head -5',
  ],
  ...['git grep line', 'git blame README.md', 'git branch', 'git ls-files', 'git rev-parse HEAD', 'git describe'],
];

test('parts that only read run beside a part that a rule allows, in any order', () => {
  expect(listRefused(READING, {})).toEqual([]);
  const lines = READING.flatMap((part) => [
    `${part} && npm test`,
    `npm test; ${part}`,
    ...(part.includes('&&') ? [] : [`npm test 2>&1 | ${part}`]),
    `${part} || npm test -- x`,
    `npm test && ${part} || true; echo $?`,
  ]);
  expect(listRefused(lines, NPM_TEST)).toEqual([]);
  expect(listRefused(['sleep 2; curl http://localhost:3000/x', 'docker ps | sort'], NPM_TEST)).toEqual([]);
  expect(decideBash(fixture, 'date && npm test', NPM_TEST).enforce).toBeUndefined();
  // Beside what the mode allows as well.
  expect(listRefused(['mkdir x && sort README.md', 'touch a; date'], { mode: 'acceptEdits' })).toEqual([]);
});

test('a program that reads the configuration of the project runs beside another command of it that a rule allows', () => {
  const cargo = { allow: ['Bash(cargo test:*)'] };
  expect(listRefused(['npm ls && npm --version && npm test'], NPM_TEST)).toEqual([]);
  expect(listRefused(['cargo tree; cargo test', 'cargo fmt --check && cargo test'], cargo)).toEqual([]);
  const both = { allow: [...NPM_TEST.allow, ...cargo.allow] };
  expect(decideBash(fixture, 'cargo tree; npm test', both).verdict).toBe('ask');
  expect(decideBash(fixture, 'cargo tree; cargo --version && mkdir x', { mode: 'acceptEdits' }).verdict).toBe('ask');
});

test('they read nothing in company that they may not read alone, and nothing runs code of the project', () => {
  const refused = [
    ...[
      'sort ../outside/data',
      'jq . .env',
      'stat ~/.ssh/id_rsa | sort link-out',
      'cut -c1 link-out',
      'sed -n 1p .env',
    ],
    ...['sort -o x README.md', 'sed -n "1w x" README.md', 'sort --compress-program=x a', 'date -s 10:00', 'uniq a b'],
    ...[
      'pip list',
      'cargo tree',
      'awk "{print > 1}" README.md',
      'python3 -m py_compile a.py',
      'git -c core.pager=x blame a',
      'git grep -Ox line',
      'file -C -m x',
      'node x',
    ],
    ...[
      'awk -f x README.md',
      'bash -c date',
      'sh x',
      'pnpm --version',
      'node -p x',
      'node --check -r ./x a.js',
      'bash -n -c x',
    ],
    ...['du --files0-from=.env', 'date -f .env', 'sort --files0-from=.env', 'diff README.md .env'],
  ];
  expect(refused.filter((part) => decideBash(fixture, `${part} && npm test`, NPM_TEST).verdict === 'allow')).toEqual(
    [],
  );
});

test('after a failure in the sandbox, and without one, what needs it asks', () => {
  const setup = { ...NPM_TEST, readOnlySandbox: 'missing' } as const;
  expect(decideBash(fixture, 'sort README.md && npm test', setup).verdict).toBe('ask');
  expect(listRefused(['date && npm test', 'sleep 2; npm test', 'date', 'sleep 1', 'nproc'], setup)).toEqual([]);
  const all = { allow: ['Bash'], deny: ['Read(./.env)'], readOnlySandbox: 'missing' } as const;
  expect(listRefused(['date', 'sleep 1', 'date +%s && nproc'], all)).toEqual([]);
  expect(decideBash(fixture, 'date -f .env', all).verdict).not.toBe('allow');
});

test('a rule for the beginning of a command covers the usual option of its program', () => {
  expect(listRefused(['npx vitest --run', 'npx vitest --run test/a'], { allow: ['Bash(npx vitest:*)'] })).toEqual([]);
  expect(decideBash(fixture, 'npx vitest --runner=x', { allow: ['Bash(npx vitest:*)'] }).verdict).toBe('ask');
});

test('a rule that begins with assignments covers just these, and no other rule covers what steers a program', () => {
  const pytest = { allow: ['Bash(PYTHONPATH=src pytest:*)'] };
  const allowed = [
    ...['PYTHONPATH=src pytest', 'PYTHONPATH="src" pytest -q tests', 'PYTHONPATH=src timeout 60 pytest -q'],
    ...[
      'CI=1 PYTHONPATH=src pytest',
      'date; PYTHONPATH=src pytest 2>&1 | tail -5',
      '(cd src && PYTHONPATH=src pytest)',
    ],
  ];
  expect(listRefused(allowed, pytest)).toEqual([]);
  const asked = [
    ...['pytest', 'PYTHONPATH=evil pytest', 'PYTHONPATH=src PYTHONPATH=evil pytest', 'PYTHONPATH+=src pytest'],
    ...['PYTHONPATH=src LD_PRELOAD=x pytest', 'PYTHONPATH=src; pytest', 'PYTHONPATH=src python', 'PYTHONPATH=src'],
    ...[
      'PYTHONPATH=$(x) pytest',
      'PYTHONPATH=src$x pytest',
      'PYTHONPATH=~/src pytest',
      'PYTHONPATH=src ls',
      'env pytest',
    ],
    ...['PYTHONPATH=src pytest --config x', 'export PYTHONPATH=src; pytest', 'PYTHONPATH=src pytest > x'],
    ...['for x in src evil; do PYTHONPATH=$x pytest; done', 'PYTHONPATH=(src) pytest', 'PYTHONPATH[0]=src pytest'],
  ];
  expect(asked.filter((line) => decideBash(fixture, line, pytest).verdict !== 'ask')).toEqual([]);
  expect(decideBash(fixture, 'PYTHONPATH=src pytest', { allow: ['Bash(pytest:*)'] }).verdict).toBe('ask');
  const ci = { allow: ['Bash(CI=1 npm test:*)'] };
  expect(listRefused(['CI=1 npm test', 'CI=1 LANG=C npm test -- x'], ci)).toEqual([]);
  const others = ['npm test', 'CI=2 npm test', 'CI=1 CI=2 npm test', 'CI="$x" npm test'];
  expect(others.filter((line) => decideBash(fixture, line, ci).verdict !== 'ask')).toEqual([]);
  // A command that a variable steers may do more than read, so it runs where the rule says, not in the sandbox.
  const preload = decideBash(fixture, 'LD_PRELOAD=x ls', { allow: ['Bash(LD_PRELOAD=x ls)'] });
  expect([preload.verdict, preload.enforce]).toEqual(['allow', undefined]);
});

test('a deny rule with an assignment denies the command wherever the line may set the variable', () => {
  const deny = { allow: ['Bash'], deny: ['Bash(NODE_ENV=production npm:*)'] };
  const denied = [
    'NODE_ENV=production npm start',
    'export NODE_ENV=production; npm start',
    'env NODE_ENV=production npm i',
  ];
  expect(denied.filter((line) => decideBash(fixture, line, deny).verdict !== 'deny')).toEqual([]);
  expect(decideBash(fixture, 'npm start', deny).verdict).toBe('allow');
});
