import { splitWords } from '../../../lib/text/lines.ts';
import {
  type AncestorFileCondition,
  defineProgramFacts,
  type ProgramFacts,
  type ProgramFactsByName,
  refuse,
} from './program-facts.ts';
import { analyzeTscCommand } from './read-only-grammars.ts';

/** Sub-commands that install or run what their arguments name, so that only exact rules are suggested for them. */
const INSTALLING_WORDS = splitWords(
  'install i add ci uninstall remove update upgrade up get create init new dlx link publish tool plugin tap services extension alias',
);
/** The same, and `run`. */
export const INSTALLING_SUBCOMMANDS = [...INSTALLING_WORDS, 'run'];
/** A package manager, whose sub-commands install what they name. */
export const PACKAGE_MANAGER_FACTS: ProgramFacts = { suggest: 2, exactSubcommands: INSTALLING_SUBCOMMANDS };
/** Package managers whose `run` takes the name of a project script. */
const SCRIPT_RUNNER: ProgramFacts = {
  ...PACKAGE_MANAGER_FACTS,
  hostFiles: splitWords('.npmrc .yarnrc .yarnrc.yml bunfig.toml'),
  exactSubcommands: INSTALLING_WORDS,
  opensNoFiles: true,
  runsProjectScripts: true,
  // Not with an option that makes a test run rewrite what it compares with.
  readsFiles: /^test(?: (?!-\w*u|--(?:update|accept|bless))\S*)*$/,
  commandMarkers: ['exec', '--'],
  startsPrograms: ['node'],
};
/** Options that make a build tool use another build file or work in another folder. */
const LOCATION_OPTIONS = '-C --directory -f --file --project --prefix --cwd --dir --path';

const LIST_OPTION =
  /^(?:-[alg]|--(?:depth=\d+|all|json|long|parseable|production|link|omit=\w+|global|package-lock-only))$/;
const BUILD_OPTIONS = `${LOCATION_OPTIONS} -e -r --build-file --build-runner --zig-lib-dir --cache-dir --global-cache-dir -p -property --property -o`;

const VERSION_ARG = /^(?:--version|-[vV]|--help|-h)$/;
/** Files in which a project names the toolchain version to run, and where to find or download it. */
const TOOLCHAIN_FILES: readonly AncestorFileCondition[] = [{ name: 'rust-toolchain' }, { name: 'rust-toolchain.toml' }];
const PACKAGE_MANAGER_FIELD: AncestorFileCondition = { name: 'package.json', contains: /ackageManager|\\u/ };

/** A formatter or linter that only reads if its arguments match. */
const createChecker = (needed: RegExp, long: string, short = 'qv'): ProgramFacts => ({
  reads: 'operands',
  searches: 'always',
  formatsFiles: true,
  readOnlyOptions: { short, long },
  analyzeArgs: (args) =>
    needed.test(args.map(({ text }) => text).join(' ')) ? undefined : refuse('It may change the files that it checks.'),
});

const YARN_FILES: readonly AncestorFileCondition[] = [
  PACKAGE_MANAGER_FIELD,
  { name: '.yarnrc' },
  { name: '.yarnrc.yml' },
];
/** Files in which a project names programs that cargo starts in place of the compiler. */
const CARGO_FILES: readonly AncestorFileCondition[] = [...TOOLCHAIN_FILES, { name: '.cargo' }];
const GO_MODULE: AncestorFileCondition = { name: 'go.mod', contains: /^[ \t]*toolchain\b/m };
const GO_FILES: readonly AncestorFileCondition[] = [GO_MODULE, { ...GO_MODULE, name: 'go.work' }];
const TREE_OPTION =
  /^(?:-[ieFp]|--(?:depth[= ]\d+|invert|no-deps|offline|locked|frozen|duplicates|all-features|no-default-features|workspace|edges=[\w,-]+|format-version[= ]1|prefix=\w+|depth|format-version))$/;
/** Options of `go list` and `go mod` that neither build nor start a program. */
const GO_LIST_OPTION =
  /^-(?:m|json(?:=[\w,]+)?|deps|test|e|versions|find|u|vendor|f=?)$|^-f \{\{[\w.\s]+\}\}$|^\{\{[\w.\s]+\}\}$/;

/** Package managers, build tools, and tools for servers and clusters. */
export const createBuildTools = (): ProgramFactsByName => ({
  npm: {
    ...SCRIPT_RUNNER,
    readOnlySubcommands: {
      ls: LIST_OPTION,
      list: LIST_OPTION,
      ll: LIST_OPTION,
      la: LIST_OPTION,
      root: LIST_OPTION,
      prefix: LIST_OPTION,
      explain: /^--json$/,
      why: /^--json$/,
      query: /^$/,
      'pkg get': /^$/,
      'config get registry': /^$/,
      'config get prefix': /^$/,
    },
    // Without an argument `run` lists the scripts.
    versionArg: /^(?:--version|-v|-V|run)$/,
    globalOptions: ['--prefix', '-C', '-w', '--workspace', '--userconfig', '--registry', '--loglevel', '--cache'],
    riskyOptions: splitWords(
      '--script-shell --shell --prefix -C --userconfig --globalconfig --node-options --git --editor --viewer --init-module --registry --cache --call -c --local-prefix --global -g',
    ),
  },
  pnpm: {
    ...SCRIPT_RUNNER,
    readOnlySubcommands: { ls: LIST_OPTION, list: LIST_OPTION, why: LIST_OPTION, root: LIST_OPTION },
    subcommandsUnlessFiles: [
      ...['.pnpmfile.cjs', '.pnpmfile.mjs'].map((name): AncestorFileCondition => ({ name })),
      { name: 'pnpm-workspace.yaml', contains: /pnpmfile|configDependencies|\\/i },
      PACKAGE_MANAGER_FIELD,
    ],
    versionQuery: { arg: VERSION_ARG, unlessFiles: [PACKAGE_MANAGER_FIELD] },
    globalOptions: ['-C', '--dir', '--filter', '-F'],
    riskyOptions: splitWords(
      `${LOCATION_OPTIONS} --script-shell --pnpmfile --global-pnpmfile --use-node-version --registry --global -g`,
    ),
  },
  yarn: {
    ...SCRIPT_RUNNER,
    readOnlySubcommands: { list: /^--(?:depth=\d+|pattern=[\w-]+)$/, why: /^$/ },
    subcommandsUnlessFiles: YARN_FILES,
    versionQuery: {
      arg: VERSION_ARG,
      unlessFiles: YARN_FILES,
    },
    globalOptions: ['--cwd'],
    riskyOptions: splitWords(
      '--cwd --use-yarnrc --rc-filename --scripts-prepend-node-path --script-shell --registry --modules-folder',
    ),
  },
  ...defineProgramFacts('uv poetry', {
    ...PACKAGE_MANAGER_FACTS,
    hostFiles: splitWords('uv.toml poetry.toml .pypirc pip.conf'),
    commandMarkers: ['run', 'exec', '--'],
    riskyOptions: splitWords(
      `${LOCATION_OPTIONS} -P --python -p --with --with-editable --index-url --index --default-index --find-links`,
    ),
  }),
  rustc: {
    versionQuery: { arg: /^(?:--version|-[vV]|-vV|--help|-h)$/, unlessFiles: TOOLCHAIN_FILES },
    readOnlySubcommands: {
      '--print sysroot': /^$/,
      '--print cfg': /^$/,
      '--print target-list': /^$/,
      '--explain': /^$/,
    },
    subcommandsUnlessFiles: TOOLCHAIN_FILES,
  },
  ...defineProgramFacts('bundle rustup', {
    ...PACKAGE_MANAGER_FACTS,
    commandMarkers: ['exec', '--'],
    riskyOptions: splitWords('--gemfile --path --toolchain'),
    readOnlySubcommands: {
      show: /^$/,
      'toolchain list': /^-v$/,
      'target list': /^--installed$/,
      'component list': /^--installed$/,
    },
    subcommandsUnlessFiles: [...TOOLCHAIN_FILES, { name: 'Gemfile' }],
  }),
  cargo: {
    versionQuery: { arg: VERSION_ARG, unlessFiles: TOOLCHAIN_FILES },
    readOnlySubcommands: {
      tree: TREE_OPTION,
      metadata: TREE_OPTION,
      pkgid: /^$/,
      'locate-project': /^--workspace$/,
      'read-manifest': /^$/,
      'install --list': /^$/,
      '--list': /^$/,
      help: /^$/,
      'fmt --check': /^$/,
      'fmt --all --check': /^$/,
      'fmt -- --check': /^$/,
    },
    subcommandsUnlessFiles: CARGO_FILES,
    ...{ suggest: 2, hostFiles: ['.cargo'] },
    builtins: splitWords(
      'add b bench build c check clean clippy d doc fetch fix fmt generate-lockfile help info init install locate-project login logout metadata miri new nextest owner package pkgid publish r read-manifest remove report rm run rustc rustdoc search t test tree uninstall update vendor version yank',
    ),
    exactSubcommands: INSTALLING_WORDS,
    globalOptions: ['--config', '-C', '--color', '-Z', '--manifest-path'],
    riskyOptions: splitWords(
      '-C -Z --fix --open --config-path --manifest-path --target-dir --out-dir --artifact-dir --lockfile-path --path --git --registry --index',
    ),
  },
  go: {
    ...PACKAGE_MANAGER_FACTS,
    versionQuery: { arg: /^(?:version|help|--help|-h)$/, unlessFiles: GO_FILES },
    readOnlySubcommands: {
      list: GO_LIST_OPTION,
      'mod graph': /^$/,
      'mod why': /^-m$/,
      'mod verify': /^$/,
      doc: /^-(?:all|short|src|u)$/,
      help: /^$/,
      'env GOPATH': /^$/,
      'env GOROOT': /^$/,
      'env GOOS': /^$/,
      'env GOARCH': /^$/,
      'env GOVERSION': /^$/,
      'env GOMOD': /^$/,
      'version -m': /^$/,
      'tool dist list': /^$/,
      vet: /^$/,
    },
    // Other variables than those above may hold secrets.
    plainOperand: /^(?!GO|CGO)(?:\.(?:\/[\w-][\w.-]*)*(?:\/\.\.\.)?|\w[\w-]*(?:[./][\w-]+)*(?:\/\.\.\.)?)$/,
    subcommandsUnlessFiles: GO_FILES,
    exactSubcommands: [...INSTALLING_SUBCOMMANDS, 'env'],
    globalOptions: ['-C'],
    riskyOptions: splitWords(
      '-C -exec -toolexec -vettool -o -modfile -overlay -ldflags -gcflags -asmflags -gccgoflags -pkgdir -compiler -outputdir -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -w -u -fix -mod -test.outputdir -test.coverprofile -test.cpuprofile -test.memprofile -test.blockprofile -test.mutexprofile -test.trace -test.gocoverdir -test.testlogfile',
    ),
  },
  ...defineProgramFacts('pip pip3', {
    ...PACKAGE_MANAGER_FACTS,
    readOnlySubcommands: {
      list: /^--(?:format=\w+|not-required|user|local)$|^-l$/,
      show: /^(?:-f|--files)$/,
      check: /^$/,
      freeze: /^--(?:user|local|all|exclude-editable)$/,
    },
    exactSubcommands: [...INSTALLING_SUBCOMMANDS, 'download', 'wheel', 'config'],
    globalOptions: ['--python', '--proxy', '--log'],
    riskyOptions: splitWords(
      '--python --target -t --root --src --log --report --index-url -i --extra-index-url --find-links',
    ),
  }),
  make: {
    suggest: 2,
    runsShellCommands: true,
    interpreter: {
      codeOptions: /^-\w*E|^--ev|^\w+[:+?]?=.*[$`]|^(?:-\w*f|--[a-z]+=)?-$|\b(?:stdin|fd\/\d+)$/s,
      inputIsData: true,
      hasUnquotedPaths: true,
    },
    globalOptions: ['-C', '-f', '-j', '--directory', '--file'],
    riskyOptions: splitWords(`${LOCATION_OPTIONS} --makefile -I --include-dir -E -o -W --what-if NAME= WORD`),
  },
  ...defineProgramFacts('mvn gradle', {
    suggest: 2,
    versionQuery: {
      arg: /^(?:-v|--version)$/,
      unlessFiles: [{ name: '.mvn' }, { name: 'gradle' }, { name: 'gradle.properties' }],
    },
    riskyOptions: splitWords(
      `${LOCATION_OPTIONS} -D --define -P -s --settings -gs --global-settings -t --toolchains -l --log-file -I --init-script -b --build-file -c --settings-file -p --project-dir -g --gradle-user-home --project-prop --system-prop --include-build --project-cache-dir x:y`,
    ),
  }),
  just: {
    suggest: 2,
    riskyOptions: splitWords(
      `${LOCATION_OPTIONS} --justfile --shell --shell-arg --shell-command -c --command --set -d --working-directory --dotenv-path --dotenv-filename --chooser NAME=`,
    ),
  },
  dotnet: {
    ...PACKAGE_MANAGER_FACTS,
    versionArg: /^--list-(?:sdks|runtimes)$/,
    versionQuery: { arg: /^--(?:version|info)$/, unlessFiles: [{ name: 'global.json' }] },
    riskyOptions: splitWords(
      `${BUILD_OPTIONS} @ -t -target --target -s --settings -a --test-adapter-path -l -logger --logger --collect --results-directory --diag -d -bl -binaryLogger -fl -flp -fileLogger -dl -distributedLogger -rsp -noAutoResponse`,
    ),
  },
  gem: { ...PACKAGE_MANAGER_FACTS, readOnlySubcommands: { list: /^(?:-l|--local)$/ } },
  zig: { ...PACKAGE_MANAGER_FACTS, versionArg: /^version$/, riskyOptions: splitWords(BUILD_OPTIONS) },
  ...defineProgramFacts('mix flutter dart', { ...PACKAGE_MANAGER_FACTS, riskyOptions: splitWords(BUILD_OPTIONS) }),
  ...defineProgramFacts('nx turbo', {
    suggest: 2,
    exactSubcommands: INSTALLING_SUBCOMMANDS,
    riskyOptions: splitWords(`${LOCATION_OPTIONS} --api --token --team --runner --root-turbo-json`),
  }),
  brew: PACKAGE_MANAGER_FACTS,
  bun: {
    ...SCRIPT_RUNNER,
    readOnlySubcommands: { 'pm ls': /^--all$/ },
    subcommandsUnlessFiles: [{ name: 'bunfig.toml' }],
  },
  conda: {
    ...PACKAGE_MANAGER_FACTS,
    commandMarkers: ['run', '--'],
    readOnlySubcommands: { list: /^$/, info: /^$/, 'env list': /^$/ },
  },
  pyenv: {
    suggest: 2,
    commandMarkers: ['exec', '--'],
    readOnlySubcommands: { versions: /^--bare$/, version: /^$/, which: /^$/ },
  },
  pipdeptree: { readOnlySubcommands: { '--version': /^$/ }, readOnlyOptions: { short: '', operands: 'none' } },
  tsc: {
    // A file of further arguments.
    riskyOptions: ['@'],
    readOnlySubcommands: { '--showConfig': /^(?:-p|--project)$/ },
    analyzeArgs: analyzeTscCommand,
  },
  pytest: { riskyOptions: splitWords('@ -p -o --override-ini') },
  // Without these options they write, or fix what they check.
  ruff: createChecker(
    /^(?:check(?= .*--no-fix)|format(?= .*--(?:check|diff)))/,
    'no-fix check diff quiet no-cache isolated output-format=',
  ),
  ...defineProgramFacts(
    'black isort',
    createChecker(/--(?:check|check-only|diff)(?: |$)/, 'check check-only diff quiet verbose line-length#'),
  ),
  rustfmt: createChecker(/--check(?: |$)/, 'check edition='),
  ...defineProgramFacts('gofmt goimports', createChecker(/^/, '', 'ldes')),
  shellcheck: { reads: 'operands', readOnlyOptions: { short: 'aW:', long: 'severity= format= color? check-sourced' } },
  hadolint: { reads: 'operands', readOnlyOptions: { short: '', long: 'no-color no-fail' } },
});
