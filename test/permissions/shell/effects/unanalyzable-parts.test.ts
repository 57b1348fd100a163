import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs, someOf } from '../../../support/runs.ts';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUPS: readonly Setup[] = [
  { allow: ['Bash'], deny: ['Bash(curl:*)'] },
  { allow: ['Bash'], deny: ['Read(.env)'], mode: 'bypassPermissions' },
  { allow: ['Bash'], ask: ['Bash(curl:*)'], mode: 'acceptEdits' },
];
const open = (lines: readonly string[]) =>
  lines.filter((line) => SETUPS.some((setup) => decideBash(fixture, line, setup).verdict === 'allow'));

/** Texts that only bash can put together. */
const COMPUTED = [
  'cu$@rl x',
  'c=cu; \x24{c}rl x',
  '$(cat x)',
  '`cat x`',
  'cu\x24{x}rl',
  '$x',
  'eval "$x"',
  'cat \x24{f}v',
];
const SHELLS = ['sh', 'bash', 'zsh -f', 'dash', 'fish', 'sudo bash', 'env -i sh', 'timeout 5 bash', 'busybox sh'];

test('an unparsable script is passed to no shell', () => {
  const variants: readonly ((shell: string, text: string) => string)[] = [
    (shell, text) => `${shell} -c '${text}'`,
    (shell, text) => `${shell} -c 'ls; ${text}'`,
    (shell, text) => `echo '${text}' | ${shell}`,
    (shell, text) => `${shell} <<< '${text}'`,
    (shell, text) => `${shell} <<'E'\n${text}\nE`,
    (shell, text) => `ls | xargs -I% ${shell} -c '${text}'`,
    (shell, text) => `find . -name x -exec ${shell} -c '${text}' ';'`,
    (_, text) => `ssh h '${text}'`,
    (_, text) => `su -c '${text}'`,
    (_, text) => `watch '${text}'`,
    (_, text) => `docker run x sh -c '${text}'`,
    (_, text) => `nobody-knows sh -c '${text}'`,
    (_, text) => `script -qc '${text}' x`,
    (_, text) => `env -S '${text}'`,
  ];
  const anyCase = fc.tuple(fc.constantFrom(...variants), fc.constantFrom(...SHELLS), fc.constantFrom(...COMPUTED));
  fc.assert(
    fc.property(anyCase, ([variant, shell, text]) => {
      expect(open([variant(shell, text)])).toEqual([]);
    }),
    runs(1_000),
  );
});

test('output of other programs is passed to no shell and no interpreter', () => {
  const printers = [
    "printf '\\143url x'",
    "printf '%s%s x' cu rl",
    "printf '%b' '\\0143'",
    "echo -e '\\x63url'",
    "echo 'cu\\c' rl",
    'echo -n cu rl',
    'base64 -d x',
    'echo kurl | tr k c',
    'cat x',
    'rev x',
    'gunzip -c x',
    'sed s/k/c/ x',
    '(echo cu; echo rl)',
    '{ echo cu; }',
  ];
  const takers = [
    ...SHELLS,
    'python3',
    'python3 -',
    'python3 /dev/stdin',
    'node',
    'perl',
    'ruby',
    'xargs env',
    'xargs sudo',
    'xargs -n1 nice',
    'xargs timeout 5',
    'xargs sh -c',
    "xargs -d '\\n' bash -c",
    'xargs -I{} {} x',
    'xargs -I% % x',
    'xargs -IX X x',
    "xargs -I{} sh -c '{}'",
    "xargs -I{} python3 -c '{}'",
    'parallel',
    'at now',
    'tee y | sh',
  ];
  const lines = printers.flatMap((printer) => takers.map((taker) => `${printer} | ${taker}`));
  fc.assert(
    fc.property(fc.constantFrom(...lines), (line) => {
      expect(open([line])).toEqual([]);
    }),
    runs(1_000),
  );
});

test('code of another language is not analyzed, so it asks everywhere', () => {
  const lines = [
    ...['python3 -c x', "perl -we 'x'", 'ruby -ex', "node -p 'x'", 'node -pe x', 'node --print x', "php -r 'x'"],
    ...["lua -e'x'", "julia -e 'x'", "Rscript -e 'x'", "sqlite3 x '.shell y'", "gdb -ex 'shell y' x", 'gdb -ex x'],
    ...["vim -c ':!x'", "vim +'!x' y", "ex -sc '!x'", "emacs --batch --eval '(x)'", "sed '1e x' f", "sed 's/a/b/e' f"],
    ...["sed 's,a,b,;e' f", "sed -n '/a/{e x' -e '}' f", 'sed -f x f', "sed 's/a/b/w x' f", "sed '/a/!{s/b/c/ge}' f"],
    ...[
      `awk 'BEGIN{system("cu" "rl")}'`,
      `awk '{"cu" "rl"|getline}'`,
      `awk '{print|"x"}'`,
      'awk -f x f',
      'gawk -l x y',
    ],
    ...["make --eval='x:;y'", "make CC='$(shell x)'", 'make -f - < x', 'nobody-knows -e \'f("x")\'', "yq 'load(x)' f"],
    ...['tmux send-keys cu rl', 'screen -X stuff x', "make -f- <<< 'x'", 'source /dev/stdin <<< x', 'crystal eval x'],
    ...[
      'find . -exec {} x ;',
      'find . -exec env {} +',
      'fd -x {}',
      'find . -exec python3 {} +',
      'parallel {1}{2} ::: a',
    ],
  ];
  expect(open(someOf(lines, 16).map((line) => line.replace(/ ;$/, " ';'")))).toEqual([]);
});

test('a file that the command creates is not run by it', () => {
  const makers = ["printf '\\143url' > s", 'base64 -d x > s', 'echo x | tee s', 'cp x s', "cat > s <<'E'\n$c\nE\n:"];
  const runners = ['sh s', './s', 'chmod +x s && ./s', '. ./s', 'python3 s', 'bash -x ./s'];
  const lines = makers.flatMap((maker) => runners.map((runner) => `${maker}; ${runner}`));
  expect(open(lines)).toEqual([]);
});

test('plain scripts, plain edits and programs of the project are not asked about', () => {
  const free = [
    "bash -c 'npm test && npm run build'",
    "sh -c 'cd x; make'",
    'bash run.sh',
    './run.sh',
    'python3 x.py --flag a',
    'python3 -m pytest -q tests',
    'node server.js',
    'make -j4 all VERBOSE=1',
    "sed -i -e 's/a/b/g' -e '/x/d' README.md",
    "sed -n '/a/,/b/p;$!d' README.md | tee x",
    "find . -name '*.ts' -exec wc -l {} +",
    'ls src | xargs wc -l',
    "env NODE_OPTIONS='--max (x)' npm test",
    "rsync -e 'ssh -p 22' a h:b",
    'docker run --rm -v $(pwd):/x node npm test',
    'gcc x.c -o x && ./x',
    'psql -h x -p 5432',
    'echo ls | sh',
  ];
  const isFree = (line: string) =>
    decideBash(fixture, line, { allow: ['Bash'], deny: ['Bash(curl:*)'] }).verdict === 'allow';
  expect(free.filter((line) => !isFree(line))).toEqual([]);
});
