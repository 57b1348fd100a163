import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../support/runs.ts';
import { decideBash, makeFixture, type Setup } from '../fixture.ts';

const fixture = makeFixture();
const CURL: Setup = { allow: ['Bash'], deny: ['Bash(curl:*)'], mode: 'bypassPermissions' };
const open = (setup: Setup, lines: readonly string[]) =>
  lines.filter((line) => decideBash(fixture, line, setup).verdict === 'allow');

/** Programs that start others, known here or not, and what stands before the one they start. */
const STARTERS = [
  'setpriv --reuid 1',
  'prlimit --nofile=5',
  'runuser -u me --',
  'choom -n 1 --',
  'ip netns exec x',
  'perf stat',
  'proxychains',
  'nobody-knows-this',
  'nobody-knows -x 1 --run',
  'systemd-nspawn -D x',
  'start-stop-daemon -S -x',
  'pkexec',
  'gdb --args',
  'cmake -E env',
  'npm explore x --',
  'go test -exec',
  'go build -toolexec',
  'gcc -wrapper',
  'tar xf y -F',
  'rsync --rsh',
  'man -P',
  'sort --compress-program',
  'git rebase -x',
  'git bisect run',
  'git submodule foreach',
  'git -c core.pager=x difftool -x',
  'npm config set script-shell',
  'docker run x',
  'poetry run',
  'tmux new -d',
  'conda run -n x',
  'timeout 5 setpriv',
];
/** Ways to write the one program as a word of the other. */
const WRITTEN: readonly ((name: string) => string)[] = [
  (name) => `${name} x`,
  (name) => `/usr/bin/${name}`,
  (name) => `'${name} x'`,
  (name) => `"x; ${name} y"`,
  (name) => `--run=${name}`,
  (name) => `--run='${name} x'`,
  (name) => `-x${name}`,
  (name) => `-c'${name} x'`,
  (name) => `'!${name} x'`,
  (name) => `'.shell ${name} x'`,
  (name) => `'system("${name} x")'`,
  (name) => `'{"run":"${name}"}'`,
  (name) => `'x=$(${name} y)'`,
  (name) => `EXEC:${name}`,
  (name) => `'a\\n${name} b'`,
  (name) => `${name.slice(0, 1)}''${name.slice(1)}`,
  (name) => `${name}.exe`,
];

test('a denied program is not started by arguments of another one', () => {
  const anyLine = fc.record({
    starter: fc.constantFrom(...STARTERS),
    write: fc.constantFrom(...WRITTEN),
    name: fc.constantFrom('curl', 'rm', 'wget2', 'my-tool'),
    joint: fc.constantFrom('', 'ls; ', 'npm test && ', 'echo x | '),
  });
  fc.assert(
    fc.property(anyLine, ({ starter, write, name, joint }) => {
      const line = `${joint}${starter} ${write(name)}`;
      expect(open({ ...CURL, deny: [`Bash(${name}:*)`] }, [line])).toEqual([]);
    }),
    runs(1_500),
  );
});

test('a pattern that matches a denied program counts as its name', () => {
  const name = 'ls';
  const setup: Setup = { ...CURL, deny: [`Bash(${name}:*)`] };
  const lines = ['cp /bin/l? x', 'ln -s /bin/[l]s x', 'setpriv /bin/l*', 'install /usr/bin/?s x'];
  expect(open(setup, lines)).toEqual([]);
  expect(open(setup, ['cp src/l? x', 'rm -rf build/*'])).toEqual(['cp src/l? x', 'rm -rf build/*']);
});

test('a rule of several words matches all of them', () => {
  const setup: Setup = { ...CURL, deny: ['Bash(git push --force:*)'] };
  const free = ['git push', 'git push origin main', 'npm run push', 'setpriv git push'];
  expect(open(setup, free)).toEqual(free);
  expect(open(setup, ['setpriv git push --force', 'setpriv git push -f o', "nobody 'git push o -uf'"])).toEqual([]);
});

test('messages, search terms and sub-commands are not programs', () => {
  const free = [
    'git commit -m "use curl"',
    'gh pr create --title x --body "curl, then x"',
    'grep -rn curl src',
    'echo curl x',
    'npm run curl-all && npm test',
    'npm curl x',
    'npm install libcurl-dev',
    'gcc src/curl/x.c',
    'cat notes.curl.md | tee x',
  ];
  expect(open(CURL, free)).toEqual(free);
});

const PLACES: Setup = {
  allow: ['Bash', 'Edit'],
  deny: ['Read(.env)', 'Read(secrets/**)', 'Edit(src/**)'],
  mode: 'bypassPermissions',
};

test('a denied path is not passed to a program that may read it', () => {
  const places = ['.env', './.env', 'secrets/key', 'src/../secrets/key', '../../ws/.env'];
  const variants: readonly ((place: string) => string)[] = [
    (place) => `yq 'load("${place}")' x`,
    (place) => `nobody-knows '{"file":"${place}"}'`,
    (place) => `nobody-knows "read ${place} now"`,
    (place) => `nobody-knows -f${place}`,
    (place) => `nobody-knows --in=x,${place}`,
    (place) => `sqlite3 x "select readfile('${place}')"`,
    (place) => `sed '1r${place}' README.md`,
    (place) => `npm run x -- ${place}`,
    (place) => `make FILE=${place}`,
    (place) => `FILE=${place} npm test`,
    (place) => `nobody-knows <<'E'\nopen ${place}\nE`,
    (place) => `git add ${place}`,
    (place) => `tar cf x @${place}`,
  ];
  const lines = places.flatMap((place) => variants.map((variant) => variant(place)));
  expect(open(PLACES, lines)).toEqual([]);
});

test('an unknown program does not change protected files', () => {
  const lines = [
    'prettier --write src/a.ts',
    'prettier --write src',
    'prettier --write .',
    'prettier --write "**/*.ts"',
    'npx prettier -w src/*.ts',
    'eslint --fix .',
    'pnpm exec eslint --fix src/a.ts',
    'black src/a.py',
    'ruff format src',
    'nobody-knows --to=src/a.ts',
    'cd src && nobody-knows a.ts',
  ];
  expect(open(PLACES, lines)).toEqual([]);
  const free = ['npm test -- docs', 'git add src', 'prettier --write docs', 'git commit -m "change src/a.ts"'];
  expect(open(PLACES, free)).toEqual(free);
});
