import { each, type Program, type Programs } from './program.ts';

const RUNS_TEXT: Program = { runsText: true };
const STATE: Program = { changesShell: true };
const ANY: Program = { wraps: { operands: 0, valued: '' } };
/** Runs what stands behind a word of its own. */
const behind = (...runsAfter: readonly string[]): Program => ({ runsAfter });
const CONTAINERS: Program = { ...RUNS_TEXT, ...behind('exec', '--'), suggest: 'never' };

const LISTING = /^(?:-[aqlns]+|--(?:all|quiet|latest|no-trunc|size|digests|last=\d+|format=.*|filter=.*))$/;

/** Shells, what is built into them, and programs that run another program. */
export const SHELLS: Programs = {
  ...each('sh bash zsh ksh mksh dash ash fish csh tcsh rbash yash oksh lksh posh', { isShell: true, texts: 'scripts' }),
  ...each('pwsh powershell', { isShell: true, texts: 'scripts', code: { hasBareNames: true } }),

  ...each('unalias hash enable set shopt declare typeset local readonly unset read let', STATE),
  ...each('popd getopts compopt shift return break continue exit logout suspend fc history umask ulimit', STATE),
  ...each('wait jobs fg bg disown caller dirs', STATE),
  set: { ...STATE, otherO: true },
  export: { ...STATE, opensNothing: true },
  pushd: { ...STATE, changesFolder: true },
  ...each('mapfile readarray bind complete', { ...STATE, ...RUNS_TEXT }),
  compgen: RUNS_TEXT,
  trap: { ...STATE, ...RUNS_TEXT },
  eval: { ...STATE, ...RUNS_TEXT, texts: 'joined' },
  alias: { ...STATE, ...RUNS_TEXT, texts: 'assigned' },
  ...each('source .', { ...STATE, ...RUNS_TEXT, reads: 'operands' }),
  command: { ...STATE, ...ANY, finds: /^-[vV]$/ },
  ...each('builtin coproc', { ...STATE, ...ANY }),
  exec: { ...STATE, wraps: { operands: 0, valued: 'a' } },
  '!': ANY,

  timeout: {
    wraps: {
      operands: 1,
      valued: 'ks',
      longValued: ['kill-after', 'signal'],
      safe: /^(?:-[ks]|-[ks]?[0-9A-Z]+[smhd]?|--foreground|--preserve-status|-v|--verbose|--(?:kill-after|signal)=[0-9A-Za-z]+)$/,
    },
  },
  gtimeout: { wraps: { operands: 1, valued: 'ks', longValued: ['kill-after', 'signal'] } },
  time: { wraps: { operands: 0, valued: 'fo', safe: /^-[pv]$/ } },
  nice: {
    wraps: { operands: 0, valued: 'n', longValued: ['adjustment'], safe: /^(?:-n|-n-?\d+|-\d+|--adjustment=-?\d+)$/ },
  },
  nohup: { wraps: { operands: 0, valued: '', safe: /^(?!)/ } },
  stdbuf: {
    wraps: {
      operands: 0,
      valued: 'ioe',
      longValued: ['input', 'output', 'error'],
      safe: /^(?:-[ioe]|-[ioe][0L]|--(?:input|output|error)=[0L])$/,
    },
  },
  ionice: { wraps: { operands: 0, valued: 'cnpPu' } },
  chrt: { wraps: { operands: 1, valued: 'TPD' } },
  taskset: { wraps: { operands: 1, valued: 'p' } },
  sudo: { wraps: { operands: 0, valued: 'ugpChDRTU' } },
  doas: { wraps: { operands: 0, valued: 'uC' } },
  env: { ...RUNS_TEXT, texts: 'behind-option', wraps: { operands: 0, valued: 'uCS', longValued: ['unset', 'chdir'] } },
  xargs: {
    ...RUNS_TEXT,
    feedsNames: 'operands',
    wraps: {
      operands: 0,
      valued: 'aEdIiLlnPs',
      longValued: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'max-lines'],
    },
  },
  parallel: { ...RUNS_TEXT, feedsNames: 'commands', wraps: { operands: 0, valued: 'jIaNnLSCd' } },
  watch: { ...RUNS_TEXT, texts: 'joined', wraps: { operands: 0, valued: 'nq' } },
  strace: { wraps: { operands: 0, valued: 'eopsuaEIOPSUX' } },
  ltrace: { wraps: { operands: 0, valued: 'eopsuaAlnx' } },
  unshare: { wraps: { operands: 0, valued: 'SGRw' } },
  nsenter: { wraps: { operands: 0, valued: 'tSGrw' } },
  chroot: { wraps: { operands: 1, valued: '' } },
  flock: { ...RUNS_TEXT, wraps: { operands: 1, valued: 'wE' } },
  script: { ...RUNS_TEXT, feedsNames: 'commands', writes: 'operands', wraps: { operands: 0, valued: 'cEIOoTB' } },
  npx: { ...RUNS_TEXT, version: /^-v$/, wraps: { operands: 0, valued: 'pcw', longValued: ['package'] } },
  bunx: { wraps: { operands: 0, valued: 'p' } },
  proot: { wraps: { operands: 0, valued: 'rbwq' } },
  fakeroot: { wraps: { operands: 0, valued: 'lsib' } },
  caffeinate: { wraps: { operands: 0, valued: 'tw' } },
  ssh: { ...RUNS_TEXT, texts: 'joined', otherO: true, wraps: { operands: 1, valued: 'bcDEeFIiJLlmOopQRSWw' } },
  'ssh-agent': { wraps: { operands: 0, valued: 'aEtP' } },
  'xvfb-run': { wraps: { operands: 0, valued: 'efnpsw' } },
  'systemd-run': { wraps: { operands: 0, valued: 'pEHMtu' } },
  ...each('setsid busybox toybox pnpx uvx firejail bwrap catchsegv valgrind ld.so', ANY),
  ...each(
    'setpriv prlimit runcon setarch linux32 linux64 numactl cgexec choom systemd-inhibit systemd-cat dbus-run-session faketime unbuffer rlwrap tini dumb-init gosu su-exec torsocks torify proxychains proxychains4 chpst softlimit setuidgid envdir envuidgid cpulimit heaptrack eatmydata fakechroot pkexec sshpass daemonize start-stop-daemon dtach abduco nsjail cross-env env-cmd chronic',
    ANY,
  ),
  'run-parts': { feedsNames: 'commands', suggest: 'never' },
  ...each('nodemon watchexec', { ...RUNS_TEXT, ...ANY }),

  ...each('su runuser sg newgrp', { ...RUNS_TEXT, feedsNames: 'commands' }),
  // What is typed into a terminal is put together there.
  ...each('tmux screen', { ...RUNS_TEXT, code: { readsData: true, options: /^(?:send(?:-keys)?|stuff)$/ } }),
  ...each('at batch', { ...RUNS_TEXT, feedsNames: 'commands', suggest: 'never' }),
  ...each('hyperfine entr concurrently nix-shell', { ...RUNS_TEXT, suggest: 'exact' }),
  docker: {
    ...CONTAINERS,
    looks: {
      ps: LISTING,
      images: LISTING,
      'image ls': LISTING,
      'container ls': LISTING,
      'volume ls': LISTING,
      'network ls': LISTING,
      'context ls': LISTING,
      version: /^$/,
      port: /^$/,
      diff: /^$/,
      'system df': LISTING,
      'compose version': /^$/,
      'buildx ls': /^$/,
      history: LISTING,
      top: /^$/,
      info: /^$/,
      'compose ls': LISTING,
    },
    readsBesides: ['.env'],
    globalOptions: ['-c', '--context', '-H', '--host', '--config', '-l', '--log-level'],
  },
  podman: { ...CONTAINERS, globalOptions: ['--connection', '--url', '--log-level'] },
  ...each('pipenv honcho foreman', { ...behind('run', 'exec', '--'), readsBesides: ['.env'] }),
  ...each('dotenv dotenvx', { ...ANY, readsBesides: ['.env'] }),
  'docker-compose': { ...CONTAINERS, readsBesides: ['.env'] },
  ...each('direnv mise asdf conda nix pdm hatch rye pixi', behind('run', 'exec', '--')),
  ...each('xterm gnome-terminal konsole', behind('exec', '-e', '--')),
};
