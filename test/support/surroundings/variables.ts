import { LINES, SCREEN, type Surrounding, sentence } from './surrounding.ts';

/** Variables of the search path and of shells. */
export const SHELL_VARIABLES: readonly Surrounding[] = [
  { name: 'no PATH', start: 'unset PATH; exec "$@"', npmStart: 'npm' },
  { name: 'an empty PATH', start: 'PATH=; export PATH; exec "$@"', npmStart: 'npm' },
  { name: 'a PATH of missing folders', start: 'PATH=/dev/null/nowhere:/dev/null/nothing; exec "$@"', npmStart: 'npm' },
  { name: 'a PATH of the working directory', start: 'PATH=.; exec "$@"', npmStart: 'npm' },
  { name: 'empty entries in the PATH', start: 'PATH=::$PATH:: exec "$@"' },
  { name: 'blanks in the PATH', start: 'mkdir "$ROOM/my programs"; PATH="$ROOM/my programs: :$PATH" exec "$@"' },
  { name: 'relative entries and files in the PATH', start: 'PATH="bin:../x:/etc/passwd:$PATH" exec "$@"' },
  { name: 'quotes and line breaks in the PATH', start: 'PATH="\'a\nb\':\\"c\\":$PATH" exec "$@"' },
  { name: 'a PATH of 100 KB', start: 'PATH="$PATH:$(printf "/dev/null/nowhere/%020000d:" 1 2 3 4 5)" exec "$@"' },
  { name: 'no variable at all', start: 'exec env -i TERM=xterm-256color ANTHROPIC_API_KEY=k "$@"', npmStart: 'npm' },
  { name: 'only a PATH', start: 'exec env -i TERM=xterm-256color ANTHROPIC_API_KEY=k PATH="$PATH" "$@"' },
  { name: '4,000 variables', start: 'i=0; while [ $i -lt 4000 ]; do export "V$i=$i"; i=$((i+1)); done; exec "$@"' },
  { name: 'a variable of 120 KB', start: 'export BIG="$(printf "%0120000d" 0)"; exec "$@"' },
  {
    name: 'variables with odd names',
    start: 'exec env "a b=1" "x-y=2" "BASH_FUNC_f%%=() { :; }" "é=3" "__proto__=4" "constructor=5" "$@"',
  },
  { name: 'variables that are no text', start: 'export A="$(printf "b\\377d")" LANG="$(printf "\\300")"; exec "$@"' },
  { name: 'no SHELL', env: { SHELL: undefined } },
  { name: 'a missing SHELL', env: { SHELL: '/dev/null/nowhere/zsh' } },
  { name: 'a SHELL that ends at once', env: { SHELL: '/usr/sbin/nologin' } },
  {
    name: 'startup files of shells that end them',
    start: 'echo "exit 7" > "$ROOM/rc"; ENV=$ROOM/rc BASH_ENV=$ROOM/rc ZDOTDIR=$ROOM exec "$@"',
    npmStart: 'npm',
  },
  { name: 'tracing shells', env: { SHELLOPTS: 'xtrace', PS4: '+ ' } },
  { name: 'an odd IFS', env: { IFS: '/-.' } },
  { name: 'CDPATH', env: { CDPATH: '/:/usr:..' } },
  { name: 'POSIXLY_CORRECT', env: { POSIXLY_CORRECT: '1' } },
  {
    name: 'editors and pagers that are missing',
    env: { EDITOR: '/dev/null/nowhere/ed', VISUAL: '', PAGER: '/dev/null/nowhere/less' },
  },
  {
    name: 'variables of git',
    env: {
      GIT_DIR: '/dev/null/nowhere',
      GIT_WORK_TREE: '/dev/null/nowhere',
      GIT_CONFIG_GLOBAL: '/dev/null/nowhere',
      GIT_TRACE: '1',
    },
  },
];

/** Variables of Node, npm, Bun and the loader. */
export const RUNTIME_VARIABLES: readonly Surrounding[] = [
  {
    name: 'NODE_OPTIONS with a missing module',
    env: { NODE_OPTIONS: '--require=/dev/null/nowhere/x.js' },
    npmStart: 'npm',
  },
  {
    name: 'NODE_OPTIONS with a missing import',
    env: { NODE_OPTIONS: '--import=/dev/null/nowhere/x.mjs' },
    npmStart: 'npm',
  },
  { name: 'NODE_OPTIONS with an unknown flag', env: { NODE_OPTIONS: '--nonsense' }, npmStart: 'npm' },
  { name: 'NODE_OPTIONS with little memory', env: { NODE_OPTIONS: '--max-old-space-size=64' } },
  {
    name: 'NODE_OPTIONS with a module that prints',
    files: { 'p.cjs': 'console.error("loaded")' },
    start: 'NODE_OPTIONS="--require=\\"$PWD/p.cjs\\"" exec "$@"',
  },
  { name: 'NODE_PATH', env: { NODE_PATH: '/dev/null/nowhere' } },
  { name: 'NODE_ENV=production', env: { NODE_ENV: 'production' } },
  { name: 'NODE_ENV=test', env: { NODE_ENV: 'test' } },
  {
    name: 'NODE_EXTRA_CA_CERTS that are missing',
    env: { NODE_EXTRA_CA_CERTS: '/dev/null/nowhere.pem', SSL_CERT_FILE: '/dev/null/nowhere.pem' },
  },
  { name: 'NODE_TLS_REJECT_UNAUTHORIZED=0', env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
  { name: 'NODE_V8_COVERAGE in a missing folder', env: { NODE_V8_COVERAGE: '/dev/null/nowhere/coverage' } },
  { name: 'NODE_UNIQUE_ID of a cluster', env: { NODE_UNIQUE_ID: '1' } },
  { name: 'UV_THREADPOOL_SIZE=1', env: { UV_THREADPOOL_SIZE: '1' } },
  { name: 'BUN_OPTIONS with a missing module', env: { BUN_OPTIONS: '--preload=/dev/null/nowhere/x.js' } },
  { name: 'BUN_OPTIONS with an unknown flag', env: { BUN_OPTIONS: '--nonsense -e' } },
  { name: 'BUN_OPTIONS that ask for something else', env: { BUN_OPTIONS: '--version' } },
  {
    name: 'BUN_OPTIONS that replace the configuration',
    env: { BUN_OPTIONS: '--config=/dev/null/nowhere.toml --cwd=/dev/null/nowhere --env-file=/dev/null/nowhere' },
  },
  { name: 'BUN_BE_BUN', env: { BUN_BE_BUN: '1' } },
  { name: 'BUN_INSTALL', env: { BUN_INSTALL: '/dev/null/nowhere' } },
  { name: 'BUN_TMPDIR', env: { BUN_TMPDIR: '/dev/null/nowhere' } },
  { name: 'BUN_INSPECT', env: { BUN_INSPECT: 'ws://127.0.0.1:0/x' } },
  { name: 'BUN_INSPECT_PRELOAD', env: { BUN_INSPECT_PRELOAD: '/dev/null/nowhere/x.js' } },
  { name: 'BUN_CONFIG_REGISTRY', env: { BUN_CONFIG_REGISTRY: 'nonsense' } },
  {
    name: 'a cache of the runtime that cannot be created',
    env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: '/dev/null/cache' },
  },
  {
    name: 'a wrong setting of the runtime',
    env: { BUN_JSC_useJIT: 'maybe' },
    outcome: sentence(/invalid JSC environment variable\s+BUN_JSC_useJIT=maybe/),
  },
  { name: 'BUN_GC_TIMER_INTERVAL that is no number', env: { BUN_GC_TIMER_INTERVAL: 'x' } },
  { name: 'MIMALLOC_VERBOSE', env: { MIMALLOC_VERBOSE: '1' } },
  { name: 'LD_PRELOAD of a missing file', env: { LD_PRELOAD: '/dev/null/nowhere/x.so' } },
  { name: 'LD_LIBRARY_PATH', env: { LD_LIBRARY_PATH: '/dev/null/nowhere::.' } },
  {
    name: 'MALLOC variables',
    env: { MALLOC_CHECK_: '3', MALLOC_PERTURB_: '165', GLIBC_TUNABLES: 'glibc.malloc.check=3' },
  },
  { name: 'npm_config_prefix', env: { npm_config_prefix: '/dev/null/nowhere' } },
  { name: 'npm_config_registry', env: { npm_config_registry: 'http://127.0.0.1:9/' } },
  {
    name: 'npm_config_userconfig that is missing',
    env: { npm_config_userconfig: '/dev/null/nowhere/.npmrc', npm_config_globalconfig: '/dev/null/nowhere' },
  },
  { name: 'npm_config_cache that cannot be created', env: { npm_config_cache: '/dev/null/npm' } },
  {
    name: 'npm settings of production',
    env: { npm_config_omit: 'dev optional', npm_config_production: 'true', npm_config_ignore_scripts: 'false' },
  },
  { name: 'npm settings that print', env: { npm_config_loglevel: 'silly', npm_config_timing: 'true' } },
  { name: 'npm_config_offline', env: { npm_config_offline: 'true' } },
  {
    name: 'the variables of another npm script',
    env: {
      npm_lifecycle_event: 'start',
      npm_package_json: '/dev/null/nowhere/package.json',
      npm_execpath: '/dev/null/nowhere/npm-cli.js',
      INIT_CWD: '/dev/null/nowhere',
    },
  },
  { name: 'DEBUG and NODE_DEBUG', env: { DEBUG: '*', NODE_DEBUG: 'fs,module' } },
];

/** Variables about people, places and other programs. */
export const OTHER_VARIABLES: readonly Surrounding[] = [
  ...(
    [
      ['LANG=C', { LANG: 'C' }],
      ['LC_ALL=POSIX', { LC_ALL: 'POSIX', LANG: undefined }],
      ['a locale that is not installed', { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }],
      ['a locale that does not exist', { LANG: 'xx_YY.UTF-9', LC_ALL: undefined }],
      ['a locale with another encoding', { LANG: 'ja_JP.eucJP' }],
      ['an empty LC_ALL', { LC_ALL: '', LANG: '' }],
      ['LC_CTYPE as macOS sets it', { LC_CTYPE: 'UTF-8', LANG: undefined }],
      ['no locale', { LANG: undefined, LC_ALL: undefined, LC_CTYPE: undefined }],
      ['a time zone that does not exist', { TZ: 'Mars/Base' }],
      ['a time zone by its file', { TZ: ':/dev/null/nowhere/zone' }],
      ['an empty time zone', { TZ: '' }],
      ['CI', { CI: '1', GITHUB_ACTIONS: 'true' }],
      ['CLAUDECODE', { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', AI_AGENT: '1' }],
      ['NO_COLOR', { NO_COLOR: '1' }],
      ['FORCE_COLOR=0', { FORCE_COLOR: '0' }],
      ['FORCE_COLOR=3', { FORCE_COLOR: '3', CLICOLOR_FORCE: '1' }],
      ['FORCE_COLOR that is no number', { FORCE_COLOR: 'very' }],
      ['COLORTERM and COLORFGBG that say nothing', { COLORTERM: 'x', COLORFGBG: 'default;default' }],
      [
        'a proxy that does not answer',
        { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', ALL_PROXY: 'socks5://127.0.0.1:9' },
      ],
      ['a proxy that is no address', { HTTP_PROXY: 'nonsense', https_proxy: '://', NO_PROXY: '*,,' }],
      ['an address of the API that is none', { ANTHROPIC_BASE_URL: 'nonsense' }],
      ['a key with a line break', { ANTHROPIC_API_KEY: ' sk-ant-x\r\n' }],
      ['a key that is no text', { ANTHROPIC_API_KEY: 'schlüssel\u0001' }],
      [
        'limits that are no numbers',
        { OURO_MAX_RETRIES: 'many', OURO_HEADER_TIMEOUT_MS: '-1', OURO_BASH_TIMEOUT_MS: '1e99' },
      ],
      ['a recording that cannot be written', { OURO_DEBUG_SCREEN: '/dev/null/nowhere/screen' }],
      ['a model that does not exist', { ANTHROPIC_MODEL: 'no such model' }],
      ['a multiplexer that is gone', { TMUX: '/dev/null/nowhere/tmux,1,0', TMUX_PANE: '%99', STY: '1.x' }],
      [
        'an editor that is gone',
        {
          TERM_PROGRAM: 'vscode',
          VSCODE_IPC_HOOK_CLI: '/dev/null/nowhere',
          NVIM: '/dev/null/nowhere',
          CLAUDE_CODE_SSE_PORT: '9',
        },
      ],
      [
        'a desktop that is gone',
        {
          DISPLAY: ':99',
          WAYLAND_DISPLAY: 'x',
          DBUS_SESSION_BUS_ADDRESS: 'unix:path=/dev/null/nowhere',
          XDG_RUNTIME_DIR: '/dev/null/nowhere',
        },
      ],
      ['a login over ssh', { SSH_CONNECTION: '1 2 3 4', SSH_TTY: '/dev/pts/99', SSH_AUTH_SOCK: '/dev/null/nowhere' }],
      ['a user without a name', { USER: undefined, LOGNAME: undefined, USERNAME: '' }],
      ['sudo', { SUDO_USER: 'zoe', SUDO_UID: '1000' }],
      [
        'DEFAULTS of Windows',
        { USERPROFILE: 'C:\\Users\\zoe', LOCALAPPDATA: 'C:\\x', COMSPEC: 'cmd.exe', OS: 'Windows_NT' },
      ],
    ] as const
  ).map(([name, env]): Surrounding => ({ name, env, outcome: SCREEN })),
  { name: 'ACCESSIBLE', env: { ACCESSIBLE: '1' }, outcome: LINES },
];
