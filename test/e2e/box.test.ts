import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { longTest } from '../support/long-test.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject } from '../support/temp-project.ts';

if (NO_SANDBOX !== undefined) process.stderr.write(`\n${NO_SANDBOX}\n`);

/** Each prints a word of its own when it gets somewhere. */
const ESCAPES: Readonly<Record<string, string>> = {
  'settings of the kernel':
    'for f in kernel/core_pattern vm/swappiness kernel/hostname; do v=$(cat /proc/sys/$f); echo "$v" > /proc/sys/$f && echo OUT; done',
  'the magic key': 'echo h > /proc/sysrq-trigger && echo OUT',
  'the control groups': 'mkdir /sys/fs/cgroup/x && echo OUT; mkdir /sys/fs/cgroup/memory/x && echo OUT',
  'a namespace of users': 'unshare -U true && echo OUT; unshare -Ur true && echo OUT; unshare -Urmn true && echo OUT',
  'a mount': 'mount -t tmpfs none /mnt && echo OUT; mount -o remount,rw / && echo OUT; umount /tmp && echo OUT',
  'another root': 'mkdir r; chroot r && echo OUT; chroot / true && echo OUT',
  'the disk itself':
    'mknod d b 254 0 && echo OUT; cat /dev/vda /dev/sda /dev/mem /proc/kcore 2>/dev/null | head -c1 | grep -q . && echo OUT',
  'a program that is root':
    'cp /bin/true t && chmod u+s t && [ -u t ] && [ "$(stat -f -c %T . )" != x ] && sudo -n true && echo OUT',
  'signals to others': 'for p in $(seq 2 4000); do kill -0 $p 2>/dev/null && [ $p -gt 200 ] && echo OUT; done; true',
  'processes of others': 'ps -e 2>/dev/null | grep -c . | { read -r n; [ "$n" -gt 20 ] && echo OUT; }',
  keyrings:
    'perl -e \'$r = syscall(250, 0, -3, 0); print "OUT\\n" if $r >= 0; $r = syscall(248, "user", "a", "b", 1, -3); print "OUT\\n" if $r >= 0\'',
  'a ring of calls': 'perl -e \'$r = syscall(425, 8, "\\0" x 120); print "OUT\\n" if $r >= 0\'',
  'programs of the kernel': 'perl -e \'$r = syscall(321, 5, "\\0" x 120, 120); print "OUT $!\\n" unless $!{EPERM}\'',
  'sockets that are no network':
    'perl -MSocket -e \'for (1, 17, 29, 31, 38, 40, 44) { print "OUT $_\\n" if socket(S, $_, SOCK_STREAM, 0) || socket(S, $_, SOCK_DGRAM, 0) }\'',
  'abstract sockets':
    'perl -MSocket -e \'print "OUT\\n" if socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("\\0x"))\'',
  'a datagram from one of a pair': 'perl -MSocket -e \'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) and print "OUT\\n"\'',
  'typing into a terminal':
    'perl -e \'open T, "<", "/dev/tty" and print "OUT\\n"; ioctl(STDIN, 0x5412, "x") and print "OUT\\n"; print "OUT $!\\n" unless $!{EPERM}\'',
  'the network':
    '(echo > /dev/tcp/127.0.0.1/22) && echo OUT; (echo > /dev/tcp/1.1.1.1/53) && echo OUT; ip link 2>/dev/null | grep -q "state UP.*eth" && echo OUT',
  'memory that is shared': 'ls /dev/shm | grep -q . && echo OUT; ipcs -m 2>/dev/null | grep -q 0x && echo OUT',
  'what runs before all':
    'cat /proc/1/environ | tr "\\0" "\\n" | grep -q a-key-of-mine && echo OUT; cat /proc/1/mem | grep -q . && echo OUT',
  'files that others wait for':
    'echo x > /run/x.pid && [ -e /run/systemd ] && echo OUT; ls /tmp | grep -q ouro-test- && ls /tmp/ouro-test-*/home/kept && echo OUT',
  'a place of its own for programs':
    'touch /usr/local/bin/x /etc/ld.so.preload /etc/profile.d/x.sh /var/spool/cron/x "$HOME/.bashrc" && echo OUT',
};

const TRIES = `
touch in-workspace && echo wrote-workspace
touch "$HOME/outside"
touch /etc/ouro-outside && echo wrote-system
cat "$HOME/.ssh/id" && echo read-key
cat secret && echo read-secret
touch .git/hooks/x && echo planted-hook
echo x >> .git/config && echo changed-config
mv .git g2 && echo moved-git
touch .git/index && echo wrote-index
mkdir -p .claude && touch .claude/settings.json && echo planted-settings
mv .claude c2 && echo moved-settings
touch .git/modules/lib/hooks/x && echo planted-module-hook
for name in .mcp.json .envrc .npmrc .gitmodules .yarnrc.yml bunfig.toml .git/config.worktree; do
  echo x > "$name" && echo "planted $name"; rm -f "$name" && echo "removed $name"
done
for name in .vscode .husky .idea .cargo .git/worktrees; do
  touch "$name/x" && echo "planted $name/x"; mv "$name" gone && echo "moved $name"
done
touch lib/.git/hooks/x && echo planted-nested-hook
echo x >> lib/.git/config && echo changed-nested-config
touch lib/.git/index && echo wrote-nested-index
mv lib lib2 && echo moved-nested; rm -rf lib2
perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and print "made-socket\n"; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) and print "made-pair\n"'
env | grep -q 'a-key-of-mine' && echo read-variable
cat /proc/*/environ | tr '\\0' '\\n' | grep -q 'a-key-of-mine' && echo read-environ
echo ../elsewhere > .git/commondir
ln -s "$HOME" home-link && touch home-link/through-link
(echo > /dev/tcp/127.0.0.1/9) && echo connected
mount -o remount,rw / && echo remounted
[ "$(ls /proc | grep -c '^[0-9]')" -lt 12 ] && echo alone
`;

describe.skipIf(NO_SANDBOX !== undefined)(`the sandbox (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test('there is no way out of it', async () => {
    await using project = await createTempProject();
    await writeFile(join(project.home, 'kept'), '');
    const { run } = await createTestSandbox(project, { env: { MY_TOKEN: 'a-key-of-mine' } });
    const script = Object.entries(ESCAPES).map(
      ([name, attempt], at) => `(cd .; mkdir w${at}; cd w${at}; ${attempt}) 2>/dev/null | sed 's/^OUT/OUT by ${name}/'`,
    );
    const printed = await run(`${script.join('\n')}\necho through`);
    expect(printed.split('\n').filter((line) => line.startsWith('OUT') || line === 'through')).toEqual(['through']);
  });

  test('a command inside writes only in the workspace, reads no key and reaches no host', async () => {
    await using project = await createTempProject({
      secret: 'x',
      '.git/config': '[core]\n',
      '.git/HEAD': 'ref: refs/heads/main\n',
      'lib/.git/HEAD': 'ref: refs/heads/main\n',
      'lib/.git/config': '[core]\n',
      '.git/hooks/a': '',
      '.git/modules/lib/hooks/a': '',
    });
    await mkdir(join(project.home, '.ssh'));
    await writeFile(join(project.home, '.ssh/id'), 'key');
    const settings = { network: false, denyRead: ['secret'], allowWrite: ['later'] };
    const { run, sandbox } = await createTestSandbox(project, { settings, env: { MY_TOKEN: 'a-key-of-mine' } });
    const printed = await run(`exec 2>/dev/null; ${TRIES}`);
    expect(existsSync(join(project.dir, '.git/commondir'))).toBe(false);
    // A link that one command leaves behind opens nothing to the next.
    const up = relative(project.dir, project.home);
    await run(`ln -s ${up} later; ln -s ${up} .mcp.json`);
    expect(await run('exec 2>/dev/null; touch later/through-later .mcp.json/x && echo wrote-home; echo ran')).toBe(
      'ran\n',
    );
    sandbox.close();
    expect(printed.split('\n').filter((line) => line !== '')).toEqual([
      'wrote-workspace',
      'wrote-index',
      'wrote-nested-index',
      'made-pair',
      'alone',
    ]);
    const outside = [join(project.home, 'outside'), join(project.home, 'through-link')];
    expect(outside.filter((path) => existsSync(path))).toEqual([]);
    // What was laid over places that were not there is gone with the last command.
    const left = ['.git', 'gone', 'home-link', 'in-workspace', 'later', 'lib', 'secret'];
    expect((await readdir(project.dir)).sort()).toEqual(left);
    expect((await readdir(join(project.dir, '.git'))).sort()).toEqual(['HEAD', 'config', 'hooks', 'index', 'modules']);
  });

  test('a protected path that is a link is unchanged after the command', async () => {
    await using project = await createTempProject({ 'real.json': '{}', 'shared/a': '' });
    await symlink('real.json', join(project.dir, '.mcp.json'));
    await symlink('shared', join(project.dir, '.claude'));
    await project.write('.git/HEAD', 'ref: refs/heads/main\n');
    await symlink('../shared', join(project.dir, '.git/hooks'));
    const { run } = await createTestSandbox(project);
    await run(
      'rm .mcp.json .claude; echo x > .mcp.json; mkdir .claude; echo x > .claude/settings.json; echo x > shared/settings.json; rm .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit',
    );
    expect(readlinkSync(join(project.dir, '.mcp.json'))).toBe('real.json');
    expect(readlinkSync(join(project.dir, '.claude'))).toBe('shared');
    expect(readlinkSync(join(project.dir, '.git/hooks'))).toBe('../shared');
    expect(await readdir(join(project.dir, 'shared'))).toEqual(['a']);
    expect(readFileSync(join(project.dir, 'real.json'), 'utf8')).toBe('{}');
  });

  longTest('a .git file is not redirected, and no folder is turned into a repository', async () => {
    await using project = await createTempProject({ 'sub/.git': 'gitdir: ../elsewhere\n' });
    const { run } = await createTestSandbox(project);
    await run(
      'echo "gitdir: evil" > sub/.git; mv sub sub2; rm -rf sub; git init -q --bare .; echo "ref: refs/heads/main" > HEAD',
    );
    expect(await project.read('sub/.git')).toBe('gitdir: ../elsewhere\n');
    expect(existsSync(join(project.dir, 'HEAD'))).toBe(false);
  });

  longTest('where home is the workspace, nothing that runs at the next login can be created', async () => {
    await using project = await createTempProject();
    const { run } = await createTestSandbox(project, { roots: [project.home] });
    const names = [
      '.bash_profile',
      '.profile',
      '.zshenv',
      '.config/autostart/x',
      '.config/systemd/user/x',
      '.local/bin/ls',
      '.ssh/rc',
      '.gitconfig',
      '.config/git/config',
      '.vimrc',
      '.pam_environment',
    ];
    await run(
      names
        .map(
          (name) =>
            `mkdir -p $(dirname ${name}); echo x > ${name}; rm -rf ${name}; mv $(dirname ${name}) moved; echo x > ${name}`,
        )
        .join('; '),
    );
    expect(names.filter((name) => existsSync(join(project.home, name)))).toEqual([]);
    // What cannot be moved is copied by mv: the empty folders of ours.
    const left = (await readdir(project.home, { recursive: true })).filter((name) => !name.startsWith('.ouro'));
    expect(left.sort()).toEqual(['moved', 'moved/bin', 'moved/git']);
  });

  test('in a worktree a commit works, and nothing that its repository runs is changed', async () => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    const tree = join(project.home, 'tree');
    await project.git('worktree', 'add', '-q', tree);
    const { run } = await createTestSandbox(project, { roots: [tree] });
    const common = join(project.dir, '.git');
    const printed = await run(
      `echo 2 > a; git -c user.name=a -c user.email=a@b commit -qam two; git log --format=%s -1
       echo x > ${common}/hooks/pre-commit; git config core.fsmonitor x; echo x >> .git; echo .. > ${common}/worktrees/tree/commondir
       mv ${common}/worktrees ${common}/w2; echo 3 > ${project.dir}/a`,
    );
    expect(printed.split('\n')[0]).toBe('two');
    expect(existsSync(join(common, 'hooks/pre-commit'))).toBe(false);
    expect(await project.git('config', '--list', '--local')).not.toContain('fsmonitor');
    expect(readFileSync(join(common, 'worktrees/tree/commondir'), 'utf8')).toBe('../..\n');
    expect(await project.read('a')).toBe('1');
  });

  longTest('a folder opens no repository that does not refer back to it', async () => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    await project.git('worktree', 'add', '-q', join(project.home, 'tree'));
    const liar = join(project.home, 'liar');
    await mkdir(liar);
    await writeFile(join(liar, '.git'), `gitdir: ${project.dir}/.git/worktrees/tree\n`);
    const { run } = await createTestSandbox(project, { roots: [liar] });
    await run(`echo x > ${project.dir}/.git/planted`);
    expect(existsSync(join(project.dir, '.git/planted'))).toBe(false);
  });

  test('read-only paths stay unchanged, also where they are writable', async () => {
    await using project = await createTempProject({ 'conf/a': '1', b: '1', '.envrc': '1' });
    await link(join(project.dir, 'b'), join(project.home, 'hard'));
    const { run } = await createTestSandbox(project, { settings: { network: false, denyWrite: ['conf', 'later'] } });
    await run('echo 2 > conf/a; echo 2 > later; rm -rf conf; ln ../home/hard h; echo 2 > .envrc');
    expect([await project.read('conf/a'), await project.read('.envrc')]).toEqual(['1', '1']);
    expect((await readdir(project.dir)).sort()).toEqual(['.envrc', 'b', 'conf']);
  });

  test('programs are denied what rules deny to read or change', async () => {
    await using project = await createTempProject({
      '.env': 'SECRET',
      'a/b/.env': 'SECRET',
      'secrets/x/y': 'SECRET',
      'a/k.pem': 'SECRET',
      'gen/a': '1',
      'ok/b': '1',
    });
    await mkdir(join(project.home, 'private'));
    await writeFile(join(project.home, 'private/z'), 'SECRET');
    const deny = [
      'Read(.env)',
      'Read(secrets/**)',
      'Read(*.pem)',
      'Read(~/private/**)',
      'Edit(gen/**)',
      'Edit(*.lock)',
    ];
    const { run } = await createTestSandbox(project, { deny });
    const printed = await run(
      'cat .env a/b/.env secrets/x/y a/k.pem ../home/private/z 2>/dev/null; echo 2 > gen/a; rm -rf gen; echo 2 > ok/b; grep -r SECRET . ; echo over',
    );
    expect(printed.split('\n').filter((line) => /SECRET|over/.test(line))).toEqual(['over']);
    expect([await project.read('gen/a'), await project.read('ok/b')]).toEqual(['1', '2\n']);
    expect(await project.read('.env')).toBe('SECRET');
  });

  longTest('a placeholder stays while another command relies on it, and is removed with the last', async () => {
    await using project = await createTempProject();
    const [first, second] = [await createTestSandbox(project), await createTestSandbox(project)];
    const command = { id: 'a', command: 'x', cwd: project.dir };
    await first.sandbox.wrap(command);
    await second.sandbox.wrap(command);
    first.sandbox.close();
    expect(existsSync(join(project.dir, '.vscode'))).toBe(true);
    second.sandbox.close();
    expect(await readdir(project.dir)).toEqual([]);
  });

  longTest('files left by a crash are removed with the next command', async () => {
    await using project = await createTempProject();
    const covers = join(project.ouroHome, 'sandbox/covers');
    await mkdir(covers, { recursive: true });
    await mkdir(join(project.dir, 'left'));
    const claim = {
      pid: 2 ** 22 + 1,
      uses: [join(project.dir, 'left')],
      made: [[join(project.dir, 'left'), 'folder']],
    };
    await writeFile(join(covers, 'dead.json'), JSON.stringify(claim));
    const { run } = await createTestSandbox(project);
    await run('true');
    expect([await readdir(project.dir), await readdir(covers)]).toEqual([[], []]);
  });
});
