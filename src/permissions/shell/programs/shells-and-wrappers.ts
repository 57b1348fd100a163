import { splitWords } from '../../../lib/text/lines.ts';
import { defineProgramFacts, type ProgramFacts, type ProgramFactsByName } from './program-facts.ts';
import { createSyntaxCheckAnalyzer } from './read-only-grammars.ts';

const COMMAND_RUNNER: ProgramFacts = { runsShellCommands: true };
const SHELL_STATE: ProgramFacts = { changesShellState: true };
const SHELL: ProgramFacts = { isShell: true, inlineScripts: 'scripts' };
const WRAPPER: ProgramFacts = { wrapper: { operands: 0, valueLetters: '' } };
/** Runs the command after one of these arguments. */
const CONTAINER_RUNNER: ProgramFacts = {
  ...COMMAND_RUNNER,
  commandMarkers: ['exec', '--'],
  suggest: 'never',
  riskyOptions: splitWords('--context --host build:--push build:--ssh build:--allow build:--secret'),
};

const INSPECTED_FIELD =
  /^\{\{(?:json )?\.(?:State|Name|Id|Created|Image|RestartCount|Mounts|NetworkSettings)(?:\.\w+)*\}\}$/;

const LIST_OPTION = /^(?:-[aqlns]+|--(?:all|quiet|latest|no-trunc|size|digests|last=\d+|format=.*|filter=.*))$/;

/** Shells, their builtins, and programs that run another program. */
export const createShellsAndWrappers = (): ProgramFactsByName => ({
  ...defineProgramFacts('fish csh tcsh rbash yash oksh lksh posh', SHELL),
  ...defineProgramFacts('sh bash zsh ksh mksh dash ash', { ...SHELL, analyzeArgs: createSyntaxCheckAnalyzer(/^-n$/) }),
  ...defineProgramFacts('pwsh powershell', {
    isShell: true,
    inlineScripts: 'scripts',
    interpreter: { hasUnquotedPaths: true },
  }),

  ...defineProgramFacts('unalias hash enable set shopt declare typeset local readonly unset read let', SHELL_STATE),
  ...defineProgramFacts(
    'popd getopts compopt shift return break continue exit logout suspend fc history umask ulimit',
    SHELL_STATE,
  ),
  ...defineProgramFacts('wait jobs fg bg disown caller dirs', SHELL_STATE),
  set: { ...SHELL_STATE, dashOIsNotOutput: true },
  export: { ...SHELL_STATE, opensNoFiles: true },
  pushd: { ...SHELL_STATE, changesCwd: true },
  ...defineProgramFacts('mapfile readarray bind complete', { ...SHELL_STATE, ...COMMAND_RUNNER }),
  compgen: COMMAND_RUNNER,
  trap: { ...SHELL_STATE, ...COMMAND_RUNNER, inlineScripts: 'joined' },
  eval: { ...SHELL_STATE, ...COMMAND_RUNNER, inlineScripts: 'joined' },
  alias: { ...SHELL_STATE, ...COMMAND_RUNNER, inlineScripts: 'assigned' },
  ...defineProgramFacts('source .', { ...SHELL_STATE, ...COMMAND_RUNNER, reads: 'operands' }),
  command: { ...SHELL_STATE, ...WRAPPER, locateOption: /^-[vV]$/ },
  ...defineProgramFacts('builtin coproc', { ...SHELL_STATE, ...WRAPPER }),
  exec: { ...SHELL_STATE, wrapper: { operands: 0, valueLetters: 'a' } },
  '!': WRAPPER,

  timeout: {
    wrapper: {
      operands: 1,
      valueLetters: 'ks',
      longValueOptions: ['kill-after', 'signal'],
      safeOptions:
        /^(?:-[ks]|-[ks]?[0-9A-Z]+[smhd]?|--foreground|--preserve-status|-v|--verbose|--(?:kill-after|signal)=[0-9A-Za-z]+)$/,
    },
  },
  gtimeout: { wrapper: { operands: 1, valueLetters: 'ks', longValueOptions: ['kill-after', 'signal'] } },
  time: { wrapper: { operands: 0, valueLetters: 'fo', safeOptions: /^-[pv]$/ } },
  nice: {
    wrapper: {
      operands: 0,
      valueLetters: 'n',
      longValueOptions: ['adjustment'],
      safeOptions: /^(?:-n|-n-?\d+|-\d+|--adjustment=-?\d+)$/,
    },
  },
  nohup: { wrapper: { operands: 0, valueLetters: '', safeOptions: /^(?!)/ } },
  stdbuf: {
    wrapper: {
      operands: 0,
      valueLetters: 'ioe',
      longValueOptions: ['input', 'output', 'error'],
      safeOptions: /^(?:-[ioe]|-[ioe][0L]|--(?:input|output|error)=[0L])$/,
    },
  },
  ionice: { wrapper: { operands: 0, valueLetters: 'cnpPu' } },
  chrt: { wrapper: { operands: 1, valueLetters: 'TPD' } },
  taskset: { wrapper: { operands: 1, valueLetters: 'p' } },
  sudo: { changesUser: true, wrapper: { operands: 0, valueLetters: 'ugpChDRTU' } },
  doas: { changesUser: true, wrapper: { operands: 0, valueLetters: 'uC' } },
  env: {
    ...COMMAND_RUNNER,
    inlineScripts: 'split-string',
    wrapper: { operands: 0, valueLetters: 'uCS', longValueOptions: ['unset', 'chdir'] },
  },
  xargs: {
    ...COMMAND_RUNNER,
    inputBecomes: 'operands',
    wrapper: {
      operands: 0,
      valueLetters: 'aEdIiLlnPs',
      longValueOptions: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'max-lines'],
    },
  },
  parallel: { ...COMMAND_RUNNER, inputBecomes: 'commands', wrapper: { operands: 0, valueLetters: 'jIaNnLSCd' } },
  watch: { ...COMMAND_RUNNER, inlineScripts: 'joined', wrapper: { operands: 0, valueLetters: 'nq' } },
  strace: { wrapper: { operands: 0, valueLetters: 'eopsuaEIOPSUX' } },
  ltrace: { wrapper: { operands: 0, valueLetters: 'eopsuaAlnx' } },
  unshare: { wrapper: { operands: 0, valueLetters: 'SGRw' } },
  nsenter: { changesUser: true, wrapper: { operands: 0, valueLetters: 'tSGrw' } },
  chroot: { changesUser: true, wrapper: { operands: 1, valueLetters: '' } },
  flock: { ...COMMAND_RUNNER, wrapper: { operands: 1, valueLetters: 'wE' } },
  script: {
    ...COMMAND_RUNNER,
    inputBecomes: 'commands',
    writes: 'operands',
    wrapper: { operands: 0, valueLetters: 'cEIOoTB' },
  },
  npx: {
    ...COMMAND_RUNNER,
    versionArg: /^-v$/,
    wrapper: { operands: 0, valueLetters: 'pcw', longValueOptions: ['package'] },
  },
  bunx: { wrapper: { operands: 0, valueLetters: 'p' } },
  proot: { wrapper: { operands: 0, valueLetters: 'rbwq' } },
  fakeroot: { wrapper: { operands: 0, valueLetters: 'lsib' } },
  caffeinate: { wrapper: { operands: 0, valueLetters: 'tw' } },
  ssh: {
    ...COMMAND_RUNNER,
    changesUser: true,
    inlineScripts: 'joined',
    dashOIsNotOutput: true,
    riskyOptions: splitWords('-o -F -E -I -S'),
    wrapper: { operands: 1, valueLetters: 'bcDEeFIiJLlmOopQRSWw' },
  },
  'ssh-agent': { wrapper: { operands: 0, valueLetters: 'aEtP' } },
  'xvfb-run': { wrapper: { operands: 0, valueLetters: 'efnpsw' } },
  'systemd-run': { changesUser: true, wrapper: { operands: 0, valueLetters: 'pEHMtu' } },
  ...defineProgramFacts('setsid busybox toybox pnpx uvx firejail bwrap catchsegv valgrind ld.so', WRAPPER),
  ...defineProgramFacts(
    'prlimit runcon setarch linux32 linux64 numactl cgexec choom systemd-inhibit systemd-cat dbus-run-session faketime unbuffer rlwrap tini dumb-init torsocks torify proxychains proxychains4 softlimit envdir cpulimit heaptrack eatmydata fakechroot sshpass dtach abduco nsjail cross-env env-cmd chronic',
    WRAPPER,
  ),
  ...defineProgramFacts('setpriv gosu su-exec chpst setuidgid envuidgid pkexec daemonize start-stop-daemon', {
    ...WRAPPER,
    changesUser: true,
  }),
  'run-parts': { inputBecomes: 'commands', suggest: 'never' },
  ...defineProgramFacts('nodemon watchexec', { ...COMMAND_RUNNER, ...WRAPPER }),

  ...defineProgramFacts('su runuser sg newgrp', { ...COMMAND_RUNNER, changesUser: true, inputBecomes: 'commands' }),
  // Keys sent to a terminal may form any command.
  ...defineProgramFacts('tmux screen', {
    ...COMMAND_RUNNER,
    interpreter: { inputIsData: true, codeOptions: /^(?:send(?:-keys)?|stuff)$/ },
  }),
  ...defineProgramFacts('at batch', { ...COMMAND_RUNNER, inputBecomes: 'commands', suggest: 'never' }),
  ...defineProgramFacts('hyperfine entr concurrently nix-shell', { ...COMMAND_RUNNER, suggest: 'exact' }),
  docker: {
    readsOnlyIn: 'host',
    ...CONTAINER_RUNNER,
    readOnlySubcommands: {
      ps: LIST_OPTION,
      images: LIST_OPTION,
      'image ls': LIST_OPTION,
      'container ls': LIST_OPTION,
      'volume ls': LIST_OPTION,
      'network ls': LIST_OPTION,
      'context ls': LIST_OPTION,
      version: /^$/,
      port: /^$/,
      diff: /^$/,
      'system df': LIST_OPTION,
      'compose version': /^$/,
      'buildx ls': /^$/,
      top: /^$/,
      info: /^$/,
      // Without `-f`, which never ends.
      logs: /^(?:-t|-n|-n \d+|--(?:tail|tail=\d+|tail \d+|since=\w+|until=\w+|timestamps))$/,
      'stats --no-stream': /^(?:-a|--no-trunc)$/,
      // The whole output lists variables of the container, which often hold secrets.
      'inspect -f': INSPECTED_FIELD,
      'inspect --format': INSPECTED_FIELD,
      'network inspect': /^$/,
      'compose ls': LIST_OPTION,
    },
    // `top web auxe` prints the environment of the processes, and `inspect -f json web` everything.
    maxSubcommandOperands: { top: 1, 'inspect -f': 1, 'inspect --format': 1 },
    implicitReads: ['.env'],
    globalOptions: ['-c', '--context', '-H', '--host', '--config', '-l', '--log-level'],
  },
  podman: { ...CONTAINER_RUNNER, globalOptions: ['--connection', '--url', '--log-level'] },
  ...defineProgramFacts('pipenv honcho foreman', {
    commandMarkers: ['run', 'exec', '--'],
    implicitReads: ['.env'],
  }),
  ...defineProgramFacts('dotenv dotenvx', { ...WRAPPER, implicitReads: ['.env'] }),
  'docker-compose': { ...CONTAINER_RUNNER, implicitReads: ['.env'] },
  ...defineProgramFacts('direnv mise asdf nix pdm hatch rye pixi', { commandMarkers: ['run', 'exec', '--'] }),
  ...defineProgramFacts('xterm gnome-terminal konsole', { commandMarkers: ['exec', '-e', '--'] }),
});
