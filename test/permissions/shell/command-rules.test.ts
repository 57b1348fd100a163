import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs, someOf } from '../../support/runs.ts';
import { decideBash, makeFixture } from '../fixture.ts';

const fixture = makeFixture();
const verdictUnder = (rule: string, line: string) =>
  decideBash(fixture, line, { allow: [rule], mode: 'acceptEdits' }).verdict;

/** What may not be added to a command that a rule covers: it starts a program, loads another description, writes elsewhere. */
const GUARDED: readonly (readonly [command: string, options: string])[] = [
  ['git fetch', '--upload-pack=x|--upload-pack x|--upload-p x|--exec=x'],
  ['git log', '--output=x|--output x|--outp x|--ext-diff|--ext-d|--textconv'],
  ['git diff', '--output=x|--no-index|-Ox'],
  ['git clone', '-u x|-ux|-c a.b=c|--config=a.b=c|--conf a.b=c|--template=x|ext::sh'],
  ['git push', '--receive-pack=x|--exec=x|--exe x'],
  ['git rebase', '-x x|-ix x|--exec=x|-s x'],
  ['git grep', '-Ox|-nO x|--open-files-in-pager=x|--no-index'],
  ['git archive', '-o x|--output=x|--remote=x|--exec=x'],
  ['git difftool', '-x x|--extcmd=x|-t x'],
  ['make', '--eval=x|-E x|-f x|-fx|-kf x|-C x|-Ix|CC=x|X:=y|X+=y|SHELL=x|--directory=x'],
  ['go test', '-exec x|--exec=x|-exec=x|-toolexec x|-o x|-C x|-overlay=x|-ldflags=-extld=x|-coverprofile=x'],
  ['go vet', '-vettool=x|--vettool x'],
  ['cargo build', '--config x|--config=x|-Zx|-C x|--manifest-path x|--target-dir=x'],
  ['npm run test', '--script-shell=x|--script-shell x|--prefix x|-C x|--node-options=x|--userconfig=x'],
  ['npm test', '--script-sh x|--shell=x'],
  ['pnpm build', '-C x|--dir=x|--pnpmfile x'],
  ['yarn build', '--cwd x|--use-yarnrc x'],
  ['mvn test', '-Da=b|-f x|-s x|a.b:c:d|-gs x'],
  ['gradle test', '-I x|--init-script=x|-b x|-Pa=b|-p x'],
  ['swift build', '-Xlinker x|-Xswiftc x|--package-path x'],
  ['terraform plan', '-chdir=x|-out=x|-out x|-plugin-dir=x'],
  ['kubectl get', '--kubeconfig=x|-s x|--server=x'],
  ['sort', '-o x|-ox|-uo x|--output=x|--outp x|--compress-program=x'],
  ['find src', "-exec x ';'|-ok x ';'|-delete|-fprint x|-execdir x +"],
  ['rg x', '--pre x|--pre=x|--hostname-bin=x'],
  ['tar xf a', '--to-command=x|-I x|-C x|--checkpoint-action=exec=x|-F x'],
  ['man ls', '-P x|--pager=x|-Hx'],
  ['rsync a b', '-e x|--rsh=x|--rsync-path=x'],
  ['curl x', '-o y|-oy|--output y|--config=y'],
  ['sed s/a/b/ f', "-e 's/a/b/e'|-e '1e x'|-e 'w x'|-f x"],
  ['nobody-knows run', '--config x|--config=x|--plugin=x|--require x|--exec x|--output x|--loader=x'],
];

test('a rule ending in a star covers no option that starts a program, reconfigures it or writes elsewhere', () => {
  const open = GUARDED.flatMap(([command, options]) =>
    someOf(options.split('|')).flatMap((option) => {
      const rule = `Bash(${command}:*)`;
      const lines = [`${command} ${option}`, `${command} a ${option}`, `cd src && ${command} -q ${option} b`];
      return lines.filter((line) => verdictUnder(rule, line) !== 'ask');
    }),
  );
  expect(open).toEqual([]);
});

test('a rule with that option does, and so does one for exactly this command', () => {
  expect(verdictUnder('Bash(git fetch --upload-pack=x:*)', 'git fetch --upload-pack=x o')).toBe('allow');
  expect(verdictUnder('Bash(make CC=x)', 'make CC=x')).toBe('allow');
});

test('the usual options stay covered', () => {
  const usual: readonly (readonly [rule: string, lines: string])[] = [
    ['git fetch', 'git fetch origin main|git fetch --all --prune'],
    ['git log', 'git log --oneline -5 --graph --all'],
    ['git push', 'git push -u origin main|git push --force-with-lease'],
    ['git commit', 'git commit -c HEAD|git commit -am x --no-verify --author=a'],
    ['make', 'make -j4 all|make -k test'],
    ['go test', 'go test -run X -v ./...|go test -count=1 -race -cover ./...'],
    ['cargo test', 'cargo test --release --features x -- --nocapture --config x'],
    ['npm run test', 'npm run test -- --config x --watch|npm run test --silent'],
    ['mvn test', 'mvn test -q -pl a -am'],
    ['tar', 'tar czf x.tgz src|tar -xzf x.tgz'],
    ['sed', "sed -i 's/a/b/' f"],
    ['gcc', 'gcc -o x x.c'],
    ['nobody-knows run', 'nobody-knows run --all -x y --fix'],
    ['kubectl get', 'kubectl get pods -n x -o yaml'],
  ];
  const asked = usual.flatMap(([rule, lines]) =>
    lines.split('|').filter((line) => verdictUnder(`Bash(${rule}:*)`, line) !== 'allow'),
  );
  expect(asked).toEqual([]);
});

test('a rule ending in a star covers --check, which no program takes for the beginning of another option', () => {
  expect(verdictUnder('Bash(node:*)', 'node --check a.js && node a.js')).toBe('allow');
  expect(verdictUnder('Bash(prettier:*)', 'prettier --check src')).toBe('allow');
  expect(verdictUnder('Bash(tar xf a:*)', 'tar xf a --checkpoint-act=exec=x')).not.toBe('allow');
});

test('a suggested rule covers its command, and nothing dangerous appended to it', () => {
  const anyCase = fc.tuple(fc.constantFrom(...GUARDED), fc.constantFrom('', ' x', ' --verbose', ' -q a'));
  fc.assert(
    fc.property(anyCase, ([[command, options], more]) => {
      const line = `${command}${more}`;
      const [suggestion] = decideBash(fixture, line).suggestions;
      if (suggestion === undefined) return;
      expect([line, verdictUnder(suggestion.rule, line)]).toEqual([line, 'allow']);
      const loose = options
        .split('|')
        .filter((option) => verdictUnder(suggestion.rule, `${line} ${option}`) === 'allow');
      expect(loose).toEqual([]);
    }),
    runs(1_000),
  );
});

test('for commands that download and run code only the exact command is suggested', () => {
  const lines = [
    ...['npm install x', 'npm i -D x', 'pip install x', 'go run ./x', 'go get x', 'cargo install x', 'brew install x'],
    ...['apt-get install -y x', 'git remote add a b', 'gh api /x', 'gh alias set x y', 'uv add x', 'make CC=x'],
  ];
  expect(lines.map((line) => decideBash(fixture, line).suggestions.map(({ rule }) => rule))).toEqual(
    lines.map((line) => [`Bash(${line})`]),
  );
});

test('a rule ending in a star covers no secret file that it does not name', () => {
  const handing = [
    ['Bash(git add:*)', 'git add .env'],
    ['Bash(git commit:*)', 'git commit -F .env'],
    ['Bash(gh pr create:*)', 'gh pr create --body-file=.env'],
    ['Bash(helm template:*)', 'helm template x --set-file a=.env'],
    ['Bash(git tag:*)', 'git tag -F certs/server.pem x'],
    ['Bash(npm run dev:*)', 'npm run dev -- --env-file .env'],
  ] as const;
  const verdicts = handing.map(([rule, line]) => decideBash(fixture, line, { allow: [rule] }).verdict);
  expect(verdicts).toEqual(handing.map(() => 'ask'));
  const named = [
    ['Bash(git add .env)', 'git add .env'],
    ['Bash(git add .env:*)', 'git add .env README.md'],
    ['Bash(git add:*)', 'git add .env.example'],
    ['Bash(cat:*)', 'cat .env'],
    ['Bash', 'git add .env'],
  ] as const;
  expect(named.map(([rule, line]) => decideBash(fixture, line, { allow: [rule] }).verdict)).toEqual(
    named.map(() => 'allow'),
  );
});

test('build options in other spellings are not covered either', () => {
  const lines = [
    ['dotnet test', '-p:x=y', '/p:x=y', '--settings x', '-property:x=y', '@x.rsp', '/logger:x'],
    ['pnpm run build', '--config.script-shell=x'],
    ['go test ./...', '-args -test.outputdir=x', '-mod=mod'],
    ['git am x', '--build-fake-ancestor=x'],
    ['git push origin main', '--repo=ext::sh'],
    ['cargo clippy', '--fix'],
    ['gh pr checkout 1', '-- -u x'],
  ] as const;
  const covered = lines.flatMap(([line, ...tails]) => {
    const allow = decideBash(fixture, line).suggestions.map(({ rule }) => rule);
    return tails.filter((tail) => decideBash(fixture, `${line} ${tail}`, { allow }).verdict === 'allow');
  });
  expect(covered).toEqual([]);
});

test('no rule is suggested for commands that delete or publish', () => {
  const lines = [
    'kubectl delete pod x',
    'terraform apply',
    'helm uninstall x',
    'gh gist create a',
    'gh release create v1',
    'gh repo delete x',
  ];
  const offered = lines.flatMap((line) => decideBash(fixture, line).suggestions.map(({ rule }) => rule));
  expect(offered.filter((rule) => rule.includes('*'))).toEqual([]);
});
