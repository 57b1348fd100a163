import { LAUNCHER } from '../run-ouro.ts';
import { ANSWER, AS_A_STRANGER, type Surrounding, sentence } from './surrounding.ts';

const inNamespace = (before: string) => `exec unshare -rm sh -c '${before}; exec "$@"' sh "$@"`;

const faketime = (date: string): Surrounding => ({
  name: `a clock in ${date.slice(0, 4)}`,
  start: `exec faketime '${date} 12:00:00' "$@"`,
  needs: { program: 'faketime' },
});

const shell = (name: string, line = `exec ${name} -c '"$0" "$@"' "$@"`): Surrounding => ({
  name: `started by ${name}`,
  start: line,
  needs: { program: name },
});

/** Opens the room of the project, and the folders of the tests around it. */
const OPEN = 'chmod -R 0777 "$ROOM"; chmod a+x "$ROOM/.." "$ROOM/../.."';

/** Limits, shells, users and clocks. */
export const SYSTEMS: readonly Surrounding[] = [
  { name: 'umask 077', start: 'umask 077; exec "$@"' },
  { name: 'umask 000', start: 'umask 000; exec "$@"' },
  { name: 'umask 777', start: 'umask 777; exec "$@"' },
  { name: '256 open files at most', start: 'ulimit -n 256; exec "$@"' },
  { name: '64 open files at most', start: 'ulimit -n 64; exec "$@"' },
  { name: '2 GB of memory', start: 'ulimit -v 2097152; exec "$@"' },
  { name: '2 GB of data', start: 'ulimit -d 2097152; exec "$@"' },
  { name: 'a small stack', start: 'ulimit -s 512; exec "$@"' },
  { name: 'an unlimited stack', start: 'ulimit -s unlimited; exec "$@"' },
  { name: 'no core files', start: 'ulimit -c 0; exec "$@"' },
  { name: 'no locked memory', start: 'ulimit -l 0; exec "$@"' },
  { name: 'files of at most 1 MB', start: 'ulimit -f 2048; exec "$@"' },
  { name: 'one processor', start: 'exec taskset -c 0 "$@"', needs: { program: 'taskset' } },
  { name: 'the lowest priority', start: 'exec nice -n 19 "$@"' },
  shell('sh'),
  shell('dash'),
  shell('bash'),
  shell('zsh'),
  shell('fish', 'exec fish --no-config -c \'$argv\' -- "$@"'),
  { name: 'started by a login shell', start: 'exec bash -lic \'"$0" "$@"\' "$@"', needs: { program: 'bash' } },
  { name: 'started by env', start: 'exec env -- "$@"' },
  {
    name: 'started by setsid, without a controlling terminal',
    start: 'exec setsid -w "$@"',
    needs: { program: 'setsid' },
  },
  { name: 'started by xargs', start: 'printf "%s\\0" "$@" | xargs -0 -o env', needs: { program: 'xargs' } },
  { name: 'started by find', start: 'exec find . -maxdepth 0 -exec "$@" \\;' },
  { name: 'started by time', start: 'exec bash -c \'time "$@"\' sh "$@"', needs: { program: 'bash' } },
  { name: 'started by timeout', start: 'exec timeout --foreground 300 "$@"' },
  { name: 'started through a link', start: `ln -s "${LAUNCHER}" "$ROOM/o"; exec "$ROOM/o"`, npmStart: 'npm' },
  {
    name: 'started through a chain of relative links',
    start: `ln -s "${LAUNCHER}" "$ROOM/a"; mkdir d; ln -s ../../a d/b; ln -s d/b c; exec ./c`,
    npmStart: 'npm',
  },
  { name: 'started by its name alone', start: `PATH="$(dirname "${LAUNCHER}"):$PATH" exec ouro`, npmStart: 'npm' },
  {
    name: 'started by a relative path',
    start: `cd "$(dirname "${LAUNCHER}")/.."; exec bin/ouro`,
    npmStart: 'npm',
  },
  { name: 'another name for itself', start: 'exec bash -c \'exec -a "" "$@"\' sh "$@"', needs: { program: 'bash' } },
  { name: 'ignored signals', start: 'trap "" HUP INT TERM QUIT PIPE TTOU TTIN USR1 WINCH; exec "$@"' },
  {
    name: 'ignored ends of children',
    start:
      'exec python3 -c "import os,signal,sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])" "$@"',
    needs: { program: 'python3' },
  },
  {
    name: 'blocked signals',
    start:
      'exec python3 -c "import os,signal,sys; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); os.execvp(sys.argv[1], sys.argv[1:])" "$@"',
    needs: { program: 'python3' },
  },
  { name: 'no new privileges', start: 'exec setpriv --no-new-privs "$@"', needs: { program: 'setpriv' } },
  {
    name: 'a user whom the system does not know',
    start: `${OPEN}; exec ${AS_A_STRANGER.join(' ')} "$@"`,
    needs: 'strangers',
  },
  {
    name: 'a user whom the system does not know, without a home',
    start: `${OPEN}; unset HOME; exec ${AS_A_STRANGER.join(' ')} "$@"`,
    env: { OURO_HOME: undefined },
    needs: 'strangers',
    outcome: sentence(/The user of this process has no home folder\. Set HOME/),
    npmStart: 'npm',
  },
  { name: 'root without its rights', start: 'exec setpriv --bounding-set=-all --inh-caps=-all "$@"', needs: 'root' },
  { name: 'root of a user namespace', start: 'exec unshare -r "$@"', needs: 'namespaces' },
  { name: 'the user nobody in a user namespace', start: 'exec unshare -U "$@"', needs: 'namespaces' },
  {
    name: 'a system without /proc',
    start: inNamespace('mount -t tmpfs t /proc'),
    needs: 'namespaces',
    outcome: sentence(/\/proc is not mounted, and the runtime needs it/),
    executable: 'bun',
  },
  { name: 'a system without /dev/shm', start: inNamespace('mount -t tmpfs -o ro t /dev/shm'), needs: 'namespaces' },
  { name: 'a system without /sys', start: inNamespace('mount -t tmpfs t /sys'), needs: 'namespaces' },
  { name: 'a system without /etc', start: inNamespace('mount -t tmpfs -o ro t /etc'), needs: 'namespaces' },
  {
    name: 'a temporary folder that runs nothing',
    start: inNamespace('mount -t tmpfs -o noexec t "$ROOM/tmp"; export TMPDIR="$ROOM/tmp"'),
    needs: 'namespaces',
  },
  {
    name: 'a full temporary folder',
    start: inNamespace(
      'mount -t tmpfs -o size=4k t "$ROOM/tmp"; head -c 4096 /dev/zero >"$ROOM/tmp/x"; export TMPDIR="$ROOM/tmp"',
    ),
    needs: 'namespaces',
  },
  {
    name: 'a full home',
    start: inNamespace('mount -t tmpfs -o size=4k t "$HOME"; head -c 4096 /dev/zero >"$HOME/x"'),
    npmStart: 'npm',
    needs: 'namespaces',
    env: { OURO_HOME: undefined },
  },
  {
    name: 'a home without free inodes',
    start: inNamespace('mount -t tmpfs -o nr_inodes=1 t "$HOME"'),
    needs: 'namespaces',
    env: { OURO_HOME: undefined },
  },
  {
    name: 'a home on a read-only disk',
    start: inNamespace('mount -t tmpfs -o ro t "$HOME"'),
    needs: 'namespaces',
    env: { OURO_HOME: undefined },
  },
  {
    name: 'everything on a read-only disk',
    start: inNamespace(
      'mount -t tmpfs -o ro t "$HOME"; mount --bind "$PWD" "$PWD"; mount -o remount,bind,ro "$PWD"; cd "$PWD"; mount -t tmpfs -o ro t "$ROOM/tmp"; export TMPDIR="$ROOM/tmp"',
    ),
    needs: 'namespaces',
    env: { OURO_HOME: undefined, BUN_RUNTIME_TRANSPILER_CACHE_PATH: undefined },
  },
  {
    name: 'a project that runs nothing',
    start: inNamespace('mount -t tmpfs -o noexec t "$PWD"; cd "$PWD"'),
    needs: 'namespaces',
  },
  { name: 'no network, not even to itself', start: 'exec unshare -rn "$@"', needs: 'namespaces' },
  { name: 'the only program of its system', start: 'exec unshare -rpf --mount-proc "$@"', needs: 'namespaces' },
  {
    name: 'another name of the machine',
    start: 'exec unshare -ru sh -c \'hostname "a-very-long-name-$(printf %040d 0)"; exec "$@"\' sh "$@"',
    needs: 'namespaces',
  },
  faketime('1970-01-02'),
  faketime('2000-02-29'),
  faketime('2038-01-19'),
  faketime('2100-03-01'),
  {
    name: 'a clock that runs backwards',
    start: 'exec faketime -f "+0 x-1" "$@"',
    needs: { program: 'faketime' },
    npmStart: 'npm',
    outcome: ANSWER,
  },
];
