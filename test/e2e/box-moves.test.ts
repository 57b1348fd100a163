import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { longTest } from '../support/long-test.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject } from '../support/temp-project.ts';

/** Ways to get something of one's own into a place whose folder may be written; `$n` is the place. */
const ATTEMPTS = [
  'echo evil > $n',
  'echo evil > $n/pre-commit',
  'rm -rf $n; mkdir -p $n; echo evil > $n/pre-commit',
  'd=$(dirname $n); mv $d $d.away; mkdir -p $d; echo evil > $n',
  'd=$(dirname $n); mv $d $d.away; mkdir -p $n; echo evil > $n/pre-commit',
  'd=$(dirname $(dirname $n)); mv $d $d.away; mkdir -p $(dirname $n); echo evil > $n',
  "d=$(dirname $n); mkdir -p $d.new; echo evil > $d.new/$(basename $n); perl -e 'syscall(316, -100, $ARGV[0], -100, $ARGV[1], 2)' $d.new $d",
  'd=$(dirname $n); ln -s $PWD $d.link; rm -rf $d; ln -s $PWD/other $d',
];

const HEAD = 'ref: refs/heads/main\n';

describe.skipIf(NO_SANDBOX !== undefined)(`deep inside the sandbox (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test('hooks and settings that a repository defines elsewhere in the workspace are protected', async () => {
    await using project = await createTempProject({
      ...{ '.git/HEAD': HEAD, 'lib/.git/HEAD': HEAD, 'tools/git/hooks/pre-commit': 'own', 'lib/more': '' },
      '.git/config': '[core]\n\thooksPath = tools/git/hooks\n[include]\n\tpath = ../conf/git/first\n',
      'lib/.git/config': '[core]\n\thooksPath = "deep/hooks"\n[includeIf "gitdir:x"]\n\tpath = ../more\n',
      'conf/git/first': '[include]\n\tpath = second # and more\n',
      'conf/git/second': '[user]\n\tname = me\n',
    });
    const named = ['tools/git/hooks', 'conf/git/first', 'conf/git/second', 'lib/deep/hooks', 'lib/more'];
    const { run, sandbox } = await createTestSandbox(project);
    await run(
      `IFS=; exec 2>/dev/null; for n in ${named.join(' ')}; do ${ATTEMPTS.map((attempt) => `(${attempt})`).join('\n')}\ndone`,
    );
    expect(await run('echo x > tools/other && echo free; echo x > tools/git/other && echo free')).toBe('free\nfree\n');
    sandbox.close();
    expect(readdirSync(join(project.dir, 'tools/git/hooks'))).toEqual(['pre-commit']);
    expect(readFileSync(join(project.dir, 'tools/git/hooks/pre-commit'), 'utf8')).toBe('own');
    expect(readFileSync(join(project.dir, 'conf/git/first'), 'utf8')).toContain('second');
    expect(readFileSync(join(project.dir, 'conf/git/second'), 'utf8')).toContain('name = me');
    expect(existsSync(join(project.dir, 'lib/deep/hooks'))).toBe(false);
    expect(readFileSync(join(project.dir, 'lib/more'), 'utf8')).toBe('');
  });

  longTest('protected paths stay in place, also when the folders above them are moved', async () => {
    await using project = await createTempProject({ 'conf/deep/prod.yaml': 'own', 'gen/src/a': 'own' });
    const { run, sandbox } = await createTestSandbox(project, {
      settings: { network: false, denyWrite: ['conf/deep/prod.yaml'] },
      deny: ['Edit(gen/src/**)'],
    });
    await run(
      `IFS=; exec 2>/dev/null; for n in conf/deep/prod.yaml gen/src/a; do ${ATTEMPTS.map((attempt) => `(${attempt})`).join('\n')}\ndone`,
    );
    sandbox.close();
    expect(readFileSync(join(project.dir, 'conf/deep/prod.yaml'), 'utf8')).toBe('own');
    expect(readFileSync(join(project.dir, 'gen/src/a'), 'utf8')).toBe('own');
  });

  longTest('where home is the workspace, nothing that runs at login can be created by moving its folder', async () => {
    await using project = await createTempProject();
    await project.write('../home/.config/own', 'x');
    const { run, sandbox } = await createTestSandbox(project, { roots: [project.home] });
    const names = ['.config/autostart', '.config/systemd', '.local/bin', '.config/git', '.config/fish'];
    await run(
      `IFS=; exec 2>/dev/null; for n in ${names.join(' ')}; do ${ATTEMPTS.slice(0, -1)
        .map((attempt) => `(${attempt})`)
        .join('\n')}\ndone`,
    );
    sandbox.close();
    const left = names.filter((name) => existsSync(join(project.home, name)));
    expect(left).toEqual([]);
  });

  longTest('no file can be made setuid, and all other mode bits can be set', async () => {
    await using project = await createTempProject({ a: '' });
    const { run, sandbox } = await createTestSandbox(project);
    const printed = await run(`exec 2>/dev/null; umask 022
      cp /bin/true t; chmod u+s t; chmod 4755 t; chmod 6755 t; install -m 4755 /bin/true t2
      perl -e 'use Fcntl; sysopen(F, "t3", O_CREAT|O_WRONLY, 04755); open(G, ">", "t4"); chmod(04755, *G);
        my ($a, $b, $c, $d, $e, $how) = ("t", "t5", "t6", "t7", "t8", pack("QQQ", 0101, 04755, 0));
        syscall(90, $a, 04755); syscall(268, -100, $a, 04755); syscall(452, -100, $a, 04755, 0); syscall(85, $b, 04755);
        syscall(437, -100, $c, $how, 24); syscall(133, $d, 0100000 | 04755, 0); syscall(259, -100, $e, 0100000 | 04755, 0)'
      find . -perm -4000 -printf 'OUT %p\\n'
      chmod 0755 t; mkdir d; chmod 2775 d; chmod 1777 d; perl -e 'open F, "<", "a" or die; sysopen(G, "n", 0101, 0640) or die; print "opened\\n"'
      stat -c '%n %a' t d n; git init -q g && echo made`);
    sandbox.close();
    expect(printed).toBe('opened\nt 755\nd 3777\nn 640\nmade\n');
  });
});
