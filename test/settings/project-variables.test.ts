import { expect, test } from 'vitest';
import { restrictProjectLayer } from '../../src/settings/restrict-project-layer.ts';

const restrict = (names: readonly string[], userVariables?: readonly string[]) => {
  const settings = { env: Object.fromEntries(names.map((name) => [name, 'x'])) };
  const layer = { source: 'project', file: '/p/.claude/settings.json', settings, lineOf: () => undefined } as const;
  return Object.keys(restrictProjectLayer(layer, userVariables).layer.settings.env ?? {});
};

const STEERING =
  `PATH HOME SHELL IFS ENV BASH_ENV PS4 CDPATH LD_PRELOAD DYLD_INSERT_LIBRARIES LD_LIBRARY_PATH PYTHONPATH PYTHONSTARTUP
  PYTHONHOME PYTHONBREAKPOINT PYTHONWARNINGS NODE_OPTIONS NODE_PATH NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS
  BUN_OPTIONS DENO_DIR RUBYOPT RUBYLIB PERL5OPT PERL5LIB PERL5DB JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH JAVA_HOME
  GRADLE_OPTS MAVEN_OPTS GOFLAGS GOPROXY GOPATH GOTOOLCHAIN GOROOT CARGO_HOME RUSTC RUSTC_WRAPPER RUSTFLAGS CC CXX LD AR
  CFLAGS MAKEFLAGS MAKEFILES TAR_OPTIONS GZIP RSYNC_RSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR
  GIT_CONFIG_GLOBAL GIT_DIR PAGER LESSOPEN MANPAGER EDITOR VISUAL BROWSER npm_config_registry NPM_CONFIG_SCRIPT_SHELL
  YARN_RC_FILENAME PIP_INDEX_URL PIP_CONFIG_FILE UV_INDEX_URL HTTP_PROXY https_proxy ALL_PROXY SSL_CERT_FILE
  CURL_CA_BUNDLE CURL_HOME WGETRC DOCKER_HOST KUBECONFIG AWS_PROFILE AWS_CONFIG_FILE SSH_AUTH_SOCK PGSERVICEFILE PGHOST
  PSQLRC RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND BAT_CONFIG_PATH JQ_LIBRARY_PATH AWKPATH LUA_INIT PHPRC PHP_INI_SCAN_DIR
  DOTNET_STARTUP_HOOKS COMPOSER_HOME GEM_HOME BUNDLE_GEMFILE VITEST_MODE JEST_WORKER_ID TERMINFO TZDIR LOCPATH GCONV_PATH
  NLSPATH HOSTALIASES TMPDIR ANTHROPIC_BASE_URL OPENAI_BASE_URL OURO_HOME CLAUDE_CONFIG_DIR XDG_CONFIG_HOME NODE_ENV_X
  CI_RUNNER MY_DATABASE_URL`.split(/\s+/);

test('no variable that steers a program comes from a project, unless the user lists it', () => {
  expect(restrict(STEERING)).toEqual([]);
  expect(restrict(['CI\nPATH', 'APP_A=B', 'app_env', ''])).toEqual([]);
  expect(restrict(['AWS_PROFILE', 'PATH'], ['AWS_PROFILE'])).toEqual(['AWS_PROFILE']);
});

test('variables for the program itself come from a project', () => {
  const names = [
    'NODE_ENV',
    'CI',
    'PORT',
    'DATABASE_URL',
    'VITE_API',
    'NEXT_PUBLIC_KEY',
    'GIT_AUTHOR_NAME',
    'RUST_LOG',
  ];
  expect(restrict(names)).toEqual(names);
});
