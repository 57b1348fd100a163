import { each, type Program, type Programs, words } from './program.ts';
import type { NearFile } from './reading.ts';

/** Sub-commands that bring in or run what is named behind them: a rule is offered for just these words. */
const BRINGING = words(
  'install i add ci update upgrade up get create init new dlx link run publish tool plugin tap services extension alias',
);
const PACKAGES: Program = { suggest: 2, exactly: BRINGING };
/** Their `run` is followed by the name of a script of the project. */
const SCRIPTS: Program = {
  ...PACKAGES,
  exactly: BRINGING.filter((word) => word !== 'run'),
  opensNothing: true,
  hasScripts: true,
  runsAfter: ['exec', '--'],
  starts: ['node'],
};
/** Options of builds that make them work by another description, or elsewhere. */
const ELSEWHERE = '-C --directory -f --file --project --prefix --cwd --dir --path';

const INSTALLED =
  /^(?:-[alg]|--(?:depth=\d+|all|json|long|parseable|production|link|omit=\w+|global|package-lock-only))$/;
/** Neither in a browser nor through a filter, which could tell of the environment. */
const SHOWN =
  /^(?:-[cLs]|--(?:comments|json(?:=.*)?|state(?:=\w+)?|limit(?:=\d+)?|author=.*|label=.*|assignee=.*|head=.*|base=.*|name-only|patch|log|log-failed|verbose|watch=false))$/;

/** Tables of names and states; what they hold in full (`-o yaml`) may be secrets. */
const IN_CLUSTER =
  /^(?:-A|--(?:all-namespaces|show-labels|no-headers|all|deployed|failed|namespace=[\w-]+|sort-by=[\w.{}[\]]+|selector=[\w=,./-]+)|-n [\w-]+|-l [\w=,./-]+|-o (?:wide|name)|-o(?:wide|name)|--output=(?:wide|name))$/;
const KINDS =
  'pods pod po services service svc deployments deployment deploy nodes node no events ev all namespaces namespace ns ingress ingresses ing jobs job cronjobs cj pvc pv statefulsets statefulset sts daemonsets daemonset ds replicasets rs hpa endpoints ep';
const USUAL_TWO =
  'svc,deploy deploy,svc pods,svc svc,pods pods,deploy deploy,pods po,svc svc,po po,svc,deploy deploy,rs,pods';
const CLUSTER: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(words(`${KINDS} ${USUAL_TWO}`).map((kind) => [`get ${kind}`, IN_CLUSTER])),
  ...Object.fromEntries(words('pods pod nodes node').map((kind) => [`top ${kind}`, IN_CLUSTER])),
  version: /^--client$/,
  'api-resources': IN_CLUSTER,
  explain: /^--recursive$/,
  'config current-context': /^$/,
  'config get-contexts': IN_CLUSTER,
  'config view': /^--minify$/,
  'rollout status': IN_CLUSTER,
  'rollout history': IN_CLUSTER,
  'auth can-i': IN_CLUSTER,
};

const BUILDS = `${ELSEWHERE} -e -r --build-file --build-runner --zig-lib-dir --cache-dir --global-cache-dir -p -property --property -o`;

const ABOUT = /^(?:--version|-[vV]|--help|-h)$/;
/** The project names the version to run, and where it lies or comes from. */
const TOOLCHAINS: readonly NearFile[] = [{ name: 'rust-toolchain' }, { name: 'rust-toolchain.toml' }];
const MANAGED: NearFile = { name: 'package.json', holding: /ackageManager|\\u/ };
const otherGo = (name: string): NearFile => ({ name, holding: /^\s*toolchain\b/m });

/** Programs that bring in packages, build, and look after machines. */
export const BUILDERS: Programs = {
  npm: {
    ...SCRIPTS,
    looks: {
      ls: INSTALLED,
      list: INSTALLED,
      ll: INSTALLED,
      la: INSTALLED,
      root: INSTALLED,
      prefix: INSTALLED,
      explain: /^--json$/,
      'pkg get': /^$/,
    },
    // Alone `run` lists the scripts.
    version: /^(?:--version|-v|-V|run)$/,
    globalOptions: ['--prefix', '-C', '-w', '--workspace', '--userconfig', '--registry', '--loglevel', '--cache'],
    guards: words(
      '--script-shell --shell --prefix -C --userconfig --globalconfig --node-options --git --editor --viewer --init-module --registry --cache --call -c --local-prefix --global -g',
    ),
  },
  pnpm: {
    ...SCRIPTS,
    says: { with: ABOUT, unless: [MANAGED] },
    globalOptions: ['-C', '--dir', '--filter', '-F'],
    guards: words(`${ELSEWHERE} --script-shell --pnpmfile --global-pnpmfile --use-node-version --registry --global -g`),
  },
  yarn: {
    ...SCRIPTS,
    says: { with: ABOUT, unless: [MANAGED, { name: '.yarnrc' }, { name: '.yarnrc.yml' }] },
    globalOptions: ['--cwd'],
    guards: words(
      '--cwd --use-yarnrc --rc-filename --scripts-prepend-node-path --script-shell --registry --modules-folder',
    ),
  },
  ...each('uv poetry', {
    ...PACKAGES,
    runsAfter: ['run', 'exec', '--'],
    guards: words(
      `${ELSEWHERE} -P --python -p --with --with-editable --index-url --index --default-index --find-links`,
    ),
  }),
  rustc: { says: { with: ABOUT, unless: TOOLCHAINS } },
  ...each('bundle rustup', { ...PACKAGES, runsAfter: ['exec', '--'], guards: words('--gemfile --path --toolchain') }),
  cargo: {
    says: { with: ABOUT, unless: TOOLCHAINS },
    suggest: 2,
    exactly: BRINGING.filter((word) => word !== 'run'),
    globalOptions: ['--config', '-C', '--color', '-Z', '--manifest-path'],
    guards: words(
      '-C -Z --fix --open --config-path --manifest-path --target-dir --out-dir --artifact-dir --lockfile-path --path --git --registry --index',
    ),
  },
  go: {
    ...PACKAGES,
    says: { with: /^(?:version|help|--help|-h)$/, unless: [otherGo('go.mod'), otherGo('go.work')] },
    exactly: [...BRINGING, 'env'],
    globalOptions: ['-C'],
    guards: words(
      '-C -exec -toolexec -vettool -o -modfile -overlay -ldflags -gcflags -asmflags -gccgoflags -pkgdir -compiler -outputdir -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -w -u -fix -mod -test.outputdir -test.coverprofile -test.cpuprofile -test.memprofile -test.blockprofile -test.mutexprofile -test.trace -test.gocoverdir -test.testlogfile',
    ),
  },
  gh: {
    suggest: 3,
    looks: {
      ...Object.fromEntries(
        ['view', 'list', 'status'].flatMap((sub) => [`pr ${sub}`, `issue ${sub}`]).map((sub) => [sub, SHOWN]),
      ),
      'pr diff': SHOWN,
      'pr checks': SHOWN,
      'run list': SHOWN,
      'run view': SHOWN,
      'release list': SHOWN,
      'release view': SHOWN,
      'repo view': SHOWN,
      'repo list': SHOWN,
      'workflow list': SHOWN,
      'workflow view': SHOWN,
      'label list': SHOWN,
      'cache list': SHOWN,
      'search issues': SHOWN,
      'search prs': SHOWN,
      'search repos': SHOWN,
      'auth status': /^--active$/,
    },
    asksGit: true,
    exactly: words('alias extension auth secret config api codespace variable gist release repo'),
    globalOptions: ['-R', '--repo'],
    guards: words('-- -D --dir -O --output --recover --hostname'),
    messages: { options: ['--body', '--title', '-b', '-t'] },
  },
  ...each('pip pip3', {
    ...PACKAGES,
    looks: { list: /^--(?:format=\w+|not-required|user|local)$|^-l$/, show: /^(?:-f|--files)$/, check: /^$/ },
    exactly: [...BRINGING, 'download', 'wheel', 'config'],
    globalOptions: ['--python', '--proxy', '--log'],
    guards: words('--python --target -t --root --src --log --report --index-url -i --extra-index-url --find-links'),
  }),
  kubectl: {
    suggest: 2,
    looks: CLUSTER,
    exactly: words('run debug attach cp edit proxy plugin config apply create replace patch delete drain scale set'),
    otherO: true,
    runsAfter: ['exec', '--'],
    globalOptions: ['-n', '--namespace', '--context', '--kubeconfig', '--cluster', '--user', '-s', '--server'],
    guards: words(
      '--kubeconfig --context --cluster --user -s --server --token --as --cache-dir --profile-output --raw',
    ),
  },
  helm: {
    ...PACKAGES,
    exactly: [...BRINGING, 'uninstall', 'delete', 'rollback'],
    looks: {
      list: IN_CLUSTER,
      ls: IN_CLUSTER,
      history: IN_CLUSTER,
      version: /^--short$/,
      'repo list': /^$/,
      'search repo': /^(?:-l|--versions)$/,
    },
    globalOptions: ['-n', '--namespace', '--kube-context', '--kubeconfig'],
    guards: words(
      '--post-renderer --kubeconfig --kube-context --registry-config --repository-config --repo -d --destination --output-dir',
    ),
  },
  terraform: {
    suggest: 2,
    version: /^(?:version|--version|-version|-v)$/,
    exactly: words('init import console state workspace apply destroy taint untaint force-unlock'),
    globalOptions: ['-chdir'],
    guards: words(
      '-chdir -out -state -state-out -backup -var-file -plugin-dir -backend-config -from-module -generate-config-out',
    ),
  },
  ...each('apt apt-get', { ...PACKAGES, globalOptions: ['-o', '-c'], guards: words('-o -c --option --config-file') }),
  aws: {
    globalOptions: ['--profile', '--region', '--output', '--endpoint-url'],
    guards: words('--endpoint-url --profile'),
  },
  gcloud: { globalOptions: ['--project', '--account', '--configuration'] },
  systemctl: {
    suggest: 2,
    looks: Object.fromEntries(
      words('list-units list-timers list-unit-files list-sockets is-active is-enabled is-failed').map((sub) => [
        sub,
        /^(?:-[al]|--(?:no-pager|all|user|failed|full|type=\w+|state=\w+))$/,
      ]),
    ),
    exactly: words('start restart enable edit link set-environment import-environment set-property'),
    globalOptions: ['-H', '--host', '-M', '--machine'],
    guards: words('-H --host -M --machine --root --image'),
  },
  make: {
    suggest: 2,
    runsText: true,
    code: {
      options: /^-\w*E|^--ev|^\w+[:+?]?=.*[$`]|^(?:-\w*f|--[a-z]+=)?(?:-|.*\b(?:stdin|fd\/\d+))$/s,
      readsData: true,
      hasBareNames: true,
    },
    globalOptions: ['-C', '-f', '-j', '--directory', '--file'],
    guards: words(`${ELSEWHERE} --makefile -I --include-dir -E -o -W --what-if NAME=`),
  },
  ...each('mvn gradle', {
    suggest: 2,
    says: { with: /^(?:-v|--version)$/, unless: [{ name: '.mvn' }, { name: 'gradle' }, { name: 'gradle.properties' }] },
    guards: words(
      `${ELSEWHERE} -D --define -P -s --settings -gs --global-settings -t --toolchains -l --log-file -I --init-script -b --build-file -c --settings-file -p --project-dir -g --gradle-user-home --project-prop --system-prop --include-build --project-cache-dir x:y`,
    ),
  }),
  just: {
    suggest: 2,
    guards: words(
      `${ELSEWHERE} --justfile --shell --shell-arg --shell-command -c --command --set -d --working-directory --dotenv-path --dotenv-filename --chooser NAME=`,
    ),
  },
  dotnet: {
    ...PACKAGES,
    version: /^--list-(?:sdks|runtimes)$/,
    says: { with: /^--(?:version|info)$/, unless: [{ name: 'global.json' }] },
    guards: words(
      `${BUILDS} @ -t -target --target -s --settings -a --test-adapter-path -l -logger --logger --collect --results-directory --diag -d -bl -binaryLogger -fl -flp -fileLogger -dl -distributedLogger -rsp -noAutoResponse`,
    ),
  },
  gem: { ...PACKAGES, looks: { list: /^(?:-l|--local)$/ } },
  zig: { ...PACKAGES, version: /^version$/, guards: words(BUILDS) },
  ...each('mix flutter dart', { ...PACKAGES, guards: words(BUILDS) }),
  ...each('nx turbo', {
    suggest: 2,
    exactly: BRINGING,
    guards: words(`${ELSEWHERE} --api --token --team --runner --root-turbo-json`),
  }),
  brew: PACKAGES,
};
