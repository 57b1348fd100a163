import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { decideBash, makeFixture } from './fixture.ts';

const fixture = makeFixture();
const findUnasked = (lines: readonly string[]) => lines.filter((line) => decideBash(fixture, line).verdict === 'allow');

test('no command that assigns a variable runs unasked', () => {
  const conversions = [
    '%n',
    '%ln',
    '%hhn',
    '%lln',
    '%5n',
    '%*n',
    '%.3n',
    '%-n',
    '%+ln',
    '%jn',
    '%zn',
    '%tn',
    '%Ln',
    "%'n",
  ];
  const lines = [
    ...conversions.flatMap((conversion) => [`printf 'x${conversion}' PATH; ls`, `printf "${conversion}" PATH`]),
    ...[
      'printf -v PATH x',
      'printf -vPATH x',
      'printf -- -v',
      'printf "%$x" a',
      "printf '%b%n' a PATH",
      "printf '%(%n)T%n' 1 PATH",
    ],
    ...[
      'read -r PATH',
      'read PATH < README.md',
      'mapfile PATH',
      'declare PATH=x',
      'typeset PATH=x',
      'local PATH',
      'export PATH=.',
    ],
    ...[
      'readonly PATH',
      'let PATH=1',
      'getopts a PATH',
      'wait -p PATH',
      'unset PATH',
      'PATH=. ls',
      'for PATH in .; do ls; done',
    ],
    ...[
      'while read -r PATH; do ls; done < README.md',
      'echo \u0024{PATH:=x}',
      ': \u0024{x=y}',
      '((PATH=1))',
      'select PATH in a; do ls; done',
    ],
    ...[
      'cd . && hash -p ./x ls',
      'alias ls=x',
      'enable -f ./x y',
      'test -v "a[$(id)]"',
      '[ -v x ]',
      'coproc ls',
      'exec 3>&1 {x}>&1',
    ],
  ];
  expect(findUnasked(lines)).toEqual([]);
});

test('conversions that only print run unasked', () => {
  const lines = [
    "printf '%s\\n' a",
    "printf '%5d|%-5s|%05.2f' 1 a 2",
    "printf '%%'",
    "printf '%q %b' a b",
    "printf '%(%F)T' -1",
  ];
  expect(findUnasked(lines)).toEqual(lines);
});

test('no program may read its arguments, or names of files, from a file', () => {
  const programs = [
    'nm',
    'size',
    'readelf',
    'objdump',
    'strings',
    'sort',
    'jq .',
    'file',
    'du',
    'wc',
    'md5sum',
    'diff x',
    'stat',
  ];
  const others = [
    'rustfmt --check',
    'black --check',
    'shellcheck',
    'tokei',
    'gofmt -l',
    'npm ls',
    'go list',
    'cargo tree',
    'man',
  ];
  const short = ['wc', 'cat', 'ls', 'head', 'tail'];
  const responses = [...programs, ...others]
    .filter((program) => !short.includes(program))
    .map((program) => `${program} @p.args`);
  const lines = [
    ...responses,
    ...['wc', 'du', 'sort', 'md5sum', 'find', 'head'].flatMap((name) => [
      `${name} --files0-from=x`,
      `${name} --files0-from x`,
    ]),
    ...[
      'grep -f x a',
      'rg -f x a',
      'rg --file=x a',
      'egrep -fx a',
      'file -f x',
      'file --files-from x',
      'xargs -a x cat',
    ],
    ...[
      'find -files0-from x',
      'tar tf x -T y',
      'unzip -l x -@',
      'date -f x',
      'sed -f x a',
      'awk -f x a',
      'jq -f x a',
      'diff --from-file=x a',
    ],
    ...[
      'git diff --pathspec-from-file=x',
      'git grep -f x',
      'git blame -S x a',
      'git log --stdin',
      'tree --fromfile x',
      'less -kx a',
    ],
    ...['shellcheck --rcfile x a', 'bat --config-file x a', 'ls --time-style=@x y @z'].slice(0, 2),
  ];
  expect(findUnasked(lines)).toEqual([]);
});

test('a glob that could become such an argument is checked', () => {
  expect(findUnasked(['nm *', 'strings *', 'objdump *', 'readelf [a-z]*', 'sort *'])).toEqual([]);
});

test('no program may get a host, or another configuration folder, from the command', () => {
  const lines = [
    ...[
      'gh repo view evil.example/o/r',
      'gh repo view https://evil.example/o/r',
      'gh pr view https://evil.example/o/r/pull/1',
    ],
    ...[
      'gh pr list -R evil.example/o/r',
      'gh pr list --repo evil.example/o/r',
      'gh issue view git@evil.example:o/r',
      'gh auth status --hostname x',
    ],
    ...[
      'GH_HOST=evil.example gh pr list',
      'npm ls --registry https://evil.example',
      'npm ls --userconfig x',
      'npm ls --prefix x',
    ],
    ...[
      'npm config get //x/:_authToken',
      'npm config list',
      'npm config get _auth',
      'kubectl get pods -s https://evil.example',
    ],
    ...[
      'kubectl get pods --kubeconfig x',
      'docker -H tcp://evil.example ps',
      'docker --context x ps',
      'docker --config x ps',
    ],
    ...[
      'helm list --kubeconfig x',
      'go list -modfile=x ./...',
      'go list -toolexec=x ./...',
      'go list -overlay=x',
      'go vet -vettool=x',
    ],
    ...[
      'go list -export ./...',
      'cargo tree --config x',
      'cargo tree --manifest-path x',
      'cargo metadata -Zx',
      'go -C x list',
      'systemctl -H x status y',
    ],
    ...[
      'pip list --python x',
      'pip list --index-url x',
      'pip list --outdated',
      'pip config list',
      'pip debug',
      'terraform -chdir=x version',
    ],
    ...[
      'git ls-remote',
      'git remote show origin',
      'git remote update',
      'git fetch --dry-run',
      'git archive --remote=x HEAD',
    ],
    ...[
      'npm view x',
      'npm outdated',
      'npm audit',
      'npm ping',
      'npm whoami',
      'cargo search x',
      'docker search x',
      'docker compose config',
    ],
  ];
  expect(findUnasked(lines)).toEqual([]);
});

test('git shows no untracked file, and no search option that leaves the repository', () => {
  const lines = [
    'git grep --untracked x',
    'git grep --no-index x',
    'git grep --no-exclude-standard x',
    'git grep -O x',
    'git diff --no-index a b',
  ];
  const recursing = [
    'git grep --recurse-submodules x',
    'git ls-files --recurse-submodules',
    'git status --ignore-submodules=none',
  ];
  expect(findUnasked([...lines, ...recursing])).toEqual([]);
});

test('a program that lists the network does not resolve names', () => {
  const lines = [
    'netstat -r',
    'netstat --route',
    'netstat -a',
    'netstat -tup',
    'ss -r',
    'ss -tr',
    'ss --resolve',
    'lsof -i',
    'lsof -i :80',
  ];
  expect(findUnasked(lines)).toEqual([]);
  const numeric = ['netstat -rn', 'netstat -tulnp', 'ss -tln', 'lsof -nP -i :80'];
  expect(findUnasked(numeric)).toEqual(numeric);
});

test('commands that print secrets of containers and pods ask', () => {
  const lines = [
    ...[
      'docker inspect web',
      "docker inspect -f '{{.Config.Env}}' web",
      "docker inspect -f '{{json .}}' web",
      'docker inspect --format={{.}} web',
    ],
    ...[
      'docker logs -f web',
      'docker inspect -f json web',
      'docker inspect --format json web',
      'docker top web e',
      'docker top web auxeww',
      'docker top web axo pid,environ',
      'docker history --no-trunc img',
      'docker volume inspect v',
      'docker stats',
      'go env GOPATH GOFLAGS',
      'docker exec web env',
      'kubectl get secret x',
      'kubectl get pod x -o yaml',
      'kubectl describe pod x',
    ],
    ...[
      'kubectl logs -f web',
      'helm get values x',
      'systemctl show x',
      'go env',
      'npm config ls -l',
      'conda config --show',
      'docker compose config',
    ],
    ...[
      'env',
      'printenv',
      'set',
      'export -p',
      'declare -p',
      'ps e',
      'ps auxe',
      'cat /proc/self/environ',
      'journalctl -f',
    ],
  ];
  expect(findUnasked(lines)).toEqual([]);
});

test('a syntax check with another option, or of what is not a plain file, asks', () => {
  const lines = [
    ...[
      'node a.js',
      'node --check',
      'node --check -r ./x.js a.js',
      'node --check --import=./x.js a.js',
      'node -c -e 1',
    ],
    ...['bash -n', 'bash -nx a.sh', "bash -n -c 'rm a'", 'sh -n -- -c', 'bash -n "$x"', 'bash --rcfile x -n a.sh'],
    ...['python3 -m py_compile', 'python3 -m py_compile -', 'python3 -m compileall .', 'python3 -c py_compile a.py'],
    ...['perl -c a.pl', 'ruby -c -r ./x a.rb', 'ruby -cx a.rb', 'php -l -d auto_prepend_file=x a.php', 'php -f a.php'],
    ...[
      'tsc',
      'tsc --noEmit --watch',
      'tsc --noEmit --outDir x',
      'tsc --noEmit -p',
      'tsc --noEmit --build',
      'tsc -p --noEmit',
    ],
    ...[
      'tsc --noEmit @files',
      'node --check @files',
      'npx tsc --noEmit',
      'node_modules/.bin/tsc --noEmit',
      './node --check a',
    ],
  ];
  expect(findUnasked(lines)).toEqual([]);
});

test('a checker that could also write asks unless its options prevent it', () => {
  const lines = [
    ...[
      'black src',
      'black --check src -o x',
      'isort src',
      'ruff check src',
      'ruff check --fix src',
      'ruff check --no-fix --output-file x src',
    ],
    ...[
      'ruff format src',
      'rustfmt src/a.rs',
      'rustfmt --check --emit files a.rs',
      'gofmt -w src',
      'gofmt -l -w src',
      'gofmt -cpuprofile x -l a',
    ],
    ...[
      'cargo fmt',
      'terraform fmt',
      'terraform fmt -check -write',
      'shellcheck -o x a',
      'eza --stdin',
      'bat --pager x a',
      'bat cache --build',
    ],
    ...[
      'less -o x a',
      'less +!id a',
      'less -Ox a',
      'tokei -o json',
      'scc -o x',
      'man -P id ls',
      'man --html=id ls',
      'man ./x',
      'man -C x ls',
    ],
    ...[
      'journalctl --vacuum-size=1',
      'journalctl --rotate',
      'journalctl --file x',
      'rustup update',
      'rustup default x',
      'pyenv install x',
    ],
  ];
  expect(findUnasked(lines)).toEqual([]);
});

test('a syntax check asks where a module that Python loads for it may come from the project', () => {
  const inFolder = (files: readonly string[]) => {
    const other = makeFixture();
    for (const file of files) {
      mkdirSync(dirname(join(other.ws, file)), { recursive: true });
      writeFileSync(join(other.ws, file), 'print("PLANTED")\n');
    }
    return decideBash(other, 'python3 -m py_compile src/a.py').verdict;
  };
  expect([inFolder([]), inFolder(['a.py', 'io/x.txt', 'src/py_compile.py'])]).toEqual(['allow', 'allow']);
  const modules = [
    'py_compile',
    'os',
    'enum',
    'traceback',
    'types',
    're',
    'importlib',
    'collections',
    'tokenize',
    'string',
  ];
  for (const name of modules)
    expect([name, inFolder([`${name}.py`]), inFolder([`${name}/__init__.py`])]).toEqual([name, 'ask', 'ask']);
});

test('a program asks whose usual input is a link that leads out of the workspace', () => {
  const other = makeFixture();
  rmSync(join(other.ws, 'package.json'));
  const link = (name: string, target: string) => symlinkSync(target, join(other.ws, name));
  const lines: Readonly<Record<string, string>> = {
    'package.json': 'npm pkg get scripts',
    'Cargo.toml': 'cargo metadata --no-deps',
    'go.mod': 'go list -m all',
    'pyproject.toml': 'ruff check --no-fix src',
    'tsconfig.json': 'tsc --showConfig',
    'Cargo.lock': 'cargo tree',
    'package-lock.json': 'npm ls',
    'rustfmt.toml': 'rustfmt --check src/a.ts',
    'pnpm-lock.yaml': 'pnpm ls',
    'go.sum': 'go mod verify',
    '.ignore': 'rg a src',
    '.rgignore': 'rg a src',
    '.gitignore': 'rg a src',
  };
  for (const [name, line] of Object.entries(lines)) {
    const before = decideBash(other, line).verdict;
    link(name, '../outside/data');
    expect([
      line,
      before,
      decideBash(other, line).verdict,
      decideBash(other, line, { cwd: join(other.ws, 'src') }).verdict,
    ]).toEqual([line, 'allow', 'ask', 'ask']);
    rmSync(join(other.ws, name));
    link(name, 'README.md');
    expect([line, decideBash(other, line).verdict]).toEqual([line, 'allow']);
    rmSync(join(other.ws, name));
  }
});

test('a search asks whose ignore file in a folder below is a link that leads out of the workspace', () => {
  const other = makeFixture();
  for (const name of ['.ignore', '.rgignore', '.gitignore']) {
    symlinkSync('../../outside/data', join(other.ws, 'src', name));
    for (const line of ['rg a', 'rg a src', 'rg --files .', 'cd src && rg -n a'])
      for (const setup of [{ readOnlySandbox: 'missing' } as const, {}])
        expect([line, decideBash(other, line, setup).verdict]).toEqual([line, 'ask']);
    rmSync(join(other.ws, 'src', name));
    symlinkSync('../README.md', join(other.ws, 'src', name));
    expect([name, decideBash(other, 'rg a', { readOnlySandbox: 'missing' }).verdict]).toEqual([name, 'allow']);
    rmSync(join(other.ws, 'src', name));
  }
});

test('the existence of credentials outside the workspace is asked about, in whatever form; that of other files is not', () => {
  const fixture = makeFixture();
  const verdict = (line: string) => decideBash(fixture, line, { allow: ['Bash(true)'] }).verdict;
  const files = [
    '~/.ssh/id_rsa',
    '~/.ssh',
    '~/.aws/credentials',
    '../.ssh/id_rsa',
    `${fixture.home}/.ssh/id_rsa`,
    '~/.netrc',
  ];
  const asking = files.flatMap((file) => [
    ...['-e', '-f', '-d', '-r', '-s', '-L', '-O'].map((operator) => `test ${operator} ${file}`),
    `[ -f ${file} ]`,
    `[ ! -e ${file} ]`,
    `[[ -f ${file} ]]`,
    `test README.md -nt ${file}`,
    `[ ${file} -ef README.md ]`,
    `test -e ${file} && true`,
    `true; test -e ${file}`,
    `cd src && test -e ${file.replace(/^\.\./, '../..')}`,
    `if test -e ${file}; then true; fi`,
    `stat ${file}`,
    `ls -d ${file}`,
    `find ${file} -maxdepth 0`,
  ]);
  expect(asking.filter((line) => verdict(line) !== 'ask')).toEqual([]);
  const harmless = [
    'test -f .env && echo yes',
    '[ -d /usr/include ]',
    'test -e README.md',
    '[ -f src/a.ts ]',
    '[ a = b ]',
    'test -n "~/.ssh"',
    'find . -name .env',
  ];
  expect(harmless.filter((line) => verdict(line) !== 'allow')).toEqual([]);
});
