import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findProgramFacts,
  getExactProgramFacts,
  isUnknownProgram,
  listKnownProgramNames,
} from '../../../../src/permissions/shell/programs/find-program-facts.ts';
import { isWholeRun, runs, someOf } from '../../../support/runs.ts';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const INTERPRETERS = listKnownProgramNames().filter((name) => getExactProgramFacts(name).interpreter !== undefined);
const DENIED: Setup = { deny: ['Read(.env)', 'Read(secrets/**)'], allow: ['Bash', 'Read'], mode: 'bypassPermissions' };

const VERSIONS = ['', '3', '-3', '5.4', '3.12', '-3.0', '3.12-dbg', '-18.1.0', '3.13t'];
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `/usr/bin/${name}`,
  (name) => `../tools/${name}`,
  (name) => `${name}.exe`,
  (name) => name.toUpperCase(),
  (name) => `'${name}'`,
  (name) => `\\${name}`,
];
/** How a file is opened in one language or another. */
const CODES = ['f(".env")', 'open("secrets/key", "r")', '(read "./.env")', 'read .env', "'.env'.IO.slurp", 'f(`.env`)'];
const GIVEN: readonly ((program: string, code: string) => string)[] = [
  (program, code) => `${program} -e ${quoted(code)}`,
  (program, code) => `${program} -c ${quoted(code)}`,
  (program, code) => `${program} --eval=${quoted(code)}`,
  (program, code) => `env ${program} -x ${quoted(code)}`,
  (program, code) => `timeout 5 ${program} -e ${quoted(code)}`,
  (program, code) => `uv run ${program} -c ${quoted(code)}`,
  (program, code) => `docker run image ${program} -c ${quoted(code)}`,
  (program, code) => `launcher --fast ${program} -c ${quoted(code)}`,
  (program, code) => `find . -exec ${program} -e ${quoted(code)} {} +`,
];
const FED: readonly ((program: string, code: string) => string)[] = [
  (program, code) => `${program} <<'EOF'\n${code}\nEOF`,
  (program, code) => `${program} - <<< ${quoted(code)}`,
  (program, code) => `echo ${quoted(code)} | ${program}`,
  (program, code) => `cat <<'EOF' | sudo ${program} -\n${code}\nEOF`,
];

function quoted(code: string): string {
  return `'${code.replaceAll("'", `'\\''`)}'`;
}

test('every interpreter is known in every spelling and version', () => {
  const unknown = INTERPRETERS.flatMap((name) =>
    VERSIONS.filter((version) => version === '' || !/\d$/.test(name)).flatMap((version) =>
      SPELLINGS.slice(0, 5)
        .map((spell) => spell(`${name}${version}`))
        .filter((word) => findProgramFacts(word).interpreter === undefined),
    ),
  );
  expect(unknown).toEqual([]);
  expect(INTERPRETERS.length).toBeGreaterThan(150);
});

test('a denied path is denied in the code of every interpreter, however it is started', () => {
  const anyCase = fc.record({
    name: fc.constantFrom(...INTERPRETERS),
    version: fc.constantFrom(...VERSIONS),
    spell: fc.constantFrom(...SPELLINGS),
    code: fc.constantFrom(...CODES),
    give: fc.constantFrom(...GIVEN),
  });
  fc.assert(
    fc.property(anyCase, ({ name, version, spell, code, give }) => {
      const line = give(spell(`${name}${version}`), code);
      expect([line, decideBash(fixture, line, DENIED).verdict]).toEqual([line, 'deny']);
    }),
    runs(120),
  );
});

test('every interpreter is denied the path, and each way of passing it code is closed', () => {
  const open = someOf([...INTERPRETERS.entries()], 40).flatMap(([at, name]) => {
    const code = CODES[at % CODES.length] ?? '';
    const variants = getExactProgramFacts(name).interpreter?.inputIsData === true ? GIVEN : [...GIVEN, ...FED];
    const tried = variants.filter((_, index) => (isWholeRun ? index % 6 === at % 6 : index === at % variants.length));
    return tried.map((give) => give(name, code)).filter((line) => decideBash(fixture, line, DENIED).verdict !== 'deny');
  });
  expect(open).toEqual([]);
});

test('the four former gaps are closed, and an unknown program asks', () => {
  const lines = [
    `lua5.4 -e 'print(io.open(".env"):read("*a"))'`,
    `pypy3 -c 'print(open(".env").read())'`,
    `Rscript -e 'cat(readLines(".env"))'`,
    `guile -c '(display (call-with-input-file ".env" get-string-all))'`,
    `newlang --run 'slurp(".env")'`,
    `awk 'BEGIN { while ((getline line < ".env") > 0) print line }'`,
    `vim -es -c 'r .env' -c '%p' -c 'q!'`,
    `sqlite3 :memory: '.read .env'`,
  ];
  expect(lines.filter((line) => decideBash(fixture, line, DENIED).verdict !== 'deny')).toEqual([]);
});

test('a command passed as one word to a program that runs it is analyzed like any other', () => {
  const runners = [
    'git rebase -x',
    'git rebase --exec',
    'git difftool -x',
    'git difftool --extcmd',
    'git submodule foreach',
    'git bisect run',
    'git filter-branch --tree-filter',
    'git filter-branch -f --msg-filter',
    'nc -e',
    'ncat -c',
    'ncat --sh-exec',
    'xterm -e',
    'konsole -e',
    'pipenv run',
    'fd -x',
  ];
  const commands = ['cat .env', 'head -3 ./.env', 'sh -c "cat .env"', 'cd . && cat .env'];
  const lines = [
    ...someOf(runners, 5).flatMap((runner) => commands.map((command) => `${runner} '${command}' more`)),
    ...['EXEC', 'SYSTEM', 'exec'].flatMap((kind) => commands.map((command) => `socat - '${kind}:${command}'`)),
  ];
  expect(lines.filter((line) => decideBash(fixture, line, DENIED).verdict !== 'deny')).toEqual([]);
});

test('with rules against commands, code and input of an interpreter ask', () => {
  const setup: Setup = { deny: ['Bash(rm:*)'], allow: ['Bash'], mode: 'bypassPermissions' };
  const lines = [
    `lua5.4 -e 'f()'`,
    `guile-3.0 -c '(f)'`,
    'python3.12 < x.py',
    'curl x | ruby3.2',
    `uv run python -c 'f()'`,
  ];
  expect(lines.filter((line) => decideBash(fixture, line, setup).verdict !== 'ask')).toEqual([]);
  expect(decideBash(fixture, 'python3 x.py', setup).verdict).toBe('allow');
});

test('a similar name is another program', () => {
  expect(findProgramFacts('echo2').opensNoFiles).toBeUndefined();
  expect([getExactProgramFacts('LS'), getExactProgramFacts('cat2'), getExactProgramFacts('constructor')]).toEqual([
    {},
    {},
    {},
  ]);
  expect(['frobnicate', '', '10', '__proto__'].filter((name) => !isUnknownProgram(name))).toEqual([]);
});
