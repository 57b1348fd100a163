import { expect, test } from 'vitest';
import { someOf } from '../../../support/runs.ts';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const CURL: Setup = { allow: ['Bash'], deny: ['Bash(curl:*)', 'Read(.env)'] };
const open = (lines: readonly string[]) => lines.filter((line) => decideBash(fixture, line, CURL).verdict === 'allow');

/** Programs that hand a text to a shell, `X` in its place. */
const HANDING = [
  "script -qc 'X' /dev/null",
  "script --comm 'X' /dev/null",
  "flock e -c 'X'",
  "sg root 'X'",
  "su --command='X' root",
  "runuser -c 'X'",
  "tar cf /dev/null a --checkpoint=1 --checkpoint-act=exec='X'",
  "tar xf x.tar --to-com='X'",
  "tar -cI 'X' -f x.tar a",
  "split --filt='X' a",
  "sort --compress-pr='X' a",
  "rsync -ae 'X' a b:",
  "git grep -O'X' line",
  "git rebase -x'X' --root",
  "git rebase --exec='X' HEAD~1",
  "git submodule foreach 'X'",
  "git difftool -yx 'X'",
  "git fetch --upload-pa='X' .",
  "git clone -qu 'X' . c",
  "git config alias.x '!X'",
  "git filter-branch --msg-filter 'X' HEAD",
  "npx --call='X'",
  "npm x -c 'X'",
  "man -H'X' ls",
  "less '+!X' a",
  "ssh -oProxyCommand='X' host",
  "gdb -batch '--eval-command=shell X'",
  "gdb -batch -iex 'shell X'",
  "docker run -it alpine sh -c 'X'",
  "tmux new-session -d 'X'",
  "crontab - <<< '* * * * * X'",
  "GIT_SSH_COMMAND='X' git fetch ssh://a/b",
  "[ -v 'a[$(X)]' ]",
  "printf -v 'a[$(X)]' x",
  "compgen -W '$(X)'",
  "nobody-knows 'X'",
  "nobody-knows --run='X'",
];
const HIDDEN = ['cu""rl x', 'c\\url', 'cu\x24{x}rl x', 'cu$@rl', 'cat .e*', 'cat .e?v', 'cat .en""v', 'cat .{d..f}nv'];

test('no text expanded by a shell reaches one through another program', () => {
  const lines = HANDING.flatMap((handing) => HIDDEN.map((hidden) => handing.replace('X', () => hidden)));
  expect(open(someOf(lines, 80))).toEqual([]);
});

test('texts without expansion are not asked about', () => {
  const lines = [
    "git commit -m 'costs $5 (`x`)'",
    "npm test -- --grep 'a (b)'",
    "sed -i 's/$/x/' README.md",
    "gh api graphql -f query='query($owner: String!) { viewer { login } }'",
  ];
  const stopped = lines.filter(
    (line) => decideBash(fixture, line, { ...CURL, deny: ['Bash(curl:*)'] }).verdict !== 'allow',
  );
  expect(stopped).toEqual([]);
});
