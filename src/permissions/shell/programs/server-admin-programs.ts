import { splitWords } from '../../../lib/text/lines.ts';
import { INSTALLING_SUBCOMMANDS, PACKAGE_MANAGER_FACTS } from './build-tools.ts';
import { defineProgramFacts, type ProgramFactsByName } from './program-facts.ts';

/** Options of `gh` that neither open a browser nor apply a filter, which could read the environment. */
const VIEW_OPTION =
  /^(?:-[cLs]|--(?:comments|json(?:=.*)?|state(?:=\w+)?|limit(?:=\d+)?|author=.*|label=.*|assignee=.*|head=.*|base=.*|name-only|patch|log|log-failed|verbose|watch=false))$/;

/** Options for tables of names and states. The full output (`-o yaml`) may contain secrets. */
const CLUSTER_OPTION =
  /^(?:-A|--(?:all-namespaces|show-labels|no-headers|all|deployed|failed|namespace=[\w-]+|sort-by=[\w.{}[\]]+|selector=[\w=,./-]+)|-n [\w-]+|-l [\w=,./-]+|-o (?:wide|name)|-o(?:wide|name)|--output=(?:wide|name))$/;
const RESOURCE_KINDS =
  'pods pod po services service svc deployments deployment deploy nodes node no events ev all namespaces namespace ns ingress ingresses ing jobs job cronjobs cj pvc pv statefulsets statefulset sts daemonsets daemonset ds replicasets rs hpa endpoints ep';
const COMMON_PAIRS =
  'svc,deploy deploy,svc pods,svc svc,pods pods,deploy deploy,pods po,svc svc,po po,svc,deploy deploy,rs,pods';
const createClusterSubcommands = (): Readonly<Record<string, RegExp>> => ({
  ...createClusterRows('get', `${RESOURCE_KINDS} ${COMMON_PAIRS}`),
  ...createClusterRows('top', 'pods pod nodes node'),
  version: /^--client$/,
  'api-resources': CLUSTER_OPTION,
  explain: /^--recursive$/,
  'config current-context': /^$/,
  'config get-contexts': CLUSTER_OPTION,
  'config view': /^--minify$/,
  logs: /^(?:-n [\w-]+|-c [\w-]+|-p|--(?:tail=\d+|tail \d+|since=\w+|previous|timestamps|all-containers|namespace=[\w-]+|container=[\w-]+)|--tail|-n|-c)$/,
  'rollout status': CLUSTER_OPTION,
  'rollout history': CLUSTER_OPTION,
  'auth can-i': CLUSTER_OPTION,
});

function createClusterRows(sub: string, kinds: string): Readonly<Record<string, RegExp>> {
  const rows: Record<string, RegExp> = {};
  for (const kind of splitWords(kinds)) rows[`${sub} ${kind}`] = CLUSTER_OPTION;
  return rows;
}

/** `HOST/owner/name` and URLs name a host, to which a client of a forge would send a token. */
const FORGE_HOST =
  /^(?!(?:https:\/\/|git@)github\.com[/:])(?:[\w+]+:\/\/\S+|[^\s@]+@[^\s:@]+:\S+|[^\s/]+\/[^\s/]+\/[^\s/]+|[^\s/.]+\.[^\s/]+\/\S+)$/;

/**
 * Tools for servers, clusters and services of others. The rows list what only shows something: each tool changes more
 * with each release, so any other subcommand counts as a change elsewhere, whose answer lasts for the session at most.
 */
export const createServerAdminPrograms = (): ProgramFactsByName => ({
  gh: {
    readsOnlyIn: 'host',
    suggest: 3,
    readOnlySubcommands: {
      ...Object.fromEntries(
        ['view', 'list', 'status'].flatMap((sub) => [`pr ${sub}`, `issue ${sub}`]).map((sub) => [sub, VIEW_OPTION]),
      ),
      'pr diff': VIEW_OPTION,
      'pr checks': VIEW_OPTION,
      'run list': VIEW_OPTION,
      'run view': VIEW_OPTION,
      'release list': VIEW_OPTION,
      'release view': VIEW_OPTION,
      'repo view': VIEW_OPTION,
      'repo list': VIEW_OPTION,
      'workflow list': VIEW_OPTION,
      'workflow view': VIEW_OPTION,
      'label list': VIEW_OPTION,
      'cache list': VIEW_OPTION,
      'search issues': VIEW_OPTION,
      'search prs': VIEW_OPTION,
      'search repos': VIEW_OPTION,
      'auth status': /^--active$/,
    },
    usesGit: true,
    plainOperand: /^(?:#?\d+|\w[\w.-]*(?:\/[\w.-]+)?)$/,
    exactSubcommands: splitWords('alias extension auth secret config api codespace variable gist release repo'),
    globalOptions: ['-R', '--repo'],
    namesHost: FORGE_HOST,
    riskyOptions: splitWords('-- -D --dir -O --output --recover --hostname'),
    textArgs: { options: ['--body', '--title', '-b', '-t'] },
  },
  ...defineProgramFacts('glab hub tea', { usesGit: true, namesHost: FORGE_HOST }),
  kubectl: {
    readsOnlyIn: 'host',
    suggest: 2,
    readOnlySubcommands: createClusterSubcommands(),
    exactSubcommands: splitWords(
      'run debug attach cp edit proxy plugin config apply create replace patch delete drain scale set',
    ),
    dashOIsNotOutput: true,
    commandMarkers: ['exec', '--'],
    globalOptions: ['-n', '--namespace', '--context', '--kubeconfig', '--cluster', '--user', '-s', '--server'],
    riskyOptions: splitWords(
      '--kubeconfig --context --cluster --user -s --server --token --as --cache-dir --profile-output --raw',
    ),
  },
  helm: {
    readsOnlyIn: 'host',
    ...PACKAGE_MANAGER_FACTS,
    exactSubcommands: [...INSTALLING_SUBCOMMANDS, 'uninstall', 'delete', 'rollback'],
    readOnlySubcommands: {
      list: CLUSTER_OPTION,
      ls: CLUSTER_OPTION,
      history: CLUSTER_OPTION,
      version: /^--short$/,
      'repo list': /^$/,
      'search repo': /^(?:-l|--versions)$/,
    },
    globalOptions: ['-n', '--namespace', '--kube-context', '--kubeconfig'],
    riskyOptions: splitWords(
      '--post-renderer --kubeconfig --kube-context --registry-config --repository-config --repo -d --destination --output-dir',
    ),
  },
  terraform: {
    suggest: 2,
    versionArg: /^(?:version|--version|-version|-v)$/,
    readOnlySubcommands: { 'fmt -check': /^-(?:diff|recursive|list=true)$/ },
    exactSubcommands: splitWords('init import console state workspace apply destroy taint untaint force-unlock'),
    globalOptions: ['-chdir'],
    riskyOptions: splitWords(
      '-chdir -out -state -state-out -backup -var-file -plugin-dir -backend-config -from-module -generate-config-out',
    ),
  },
  ...defineProgramFacts('apt apt-get', {
    ...PACKAGE_MANAGER_FACTS,
    globalOptions: ['-o', '-c'],
    riskyOptions: splitWords('-o -c --option --config-file'),
  }),
  aws: {
    globalOptions: ['--profile', '--region', '--output', '--endpoint-url'],
    riskyOptions: splitWords('--endpoint-url --profile'),
  },
  gcloud: { globalOptions: ['--project', '--account', '--configuration'] },
  systemctl: {
    readsOnlyIn: 'host',
    suggest: 2,
    readOnlySubcommands: Object.fromEntries(
      splitWords('list-units list-timers list-unit-files list-sockets is-active is-enabled is-failed').map((sub) => [
        sub,
        /^(?:-[al]|--(?:no-pager|all|user|failed|full|type=\w+|state=\w+))$/,
      ]),
    ),
    exactSubcommands: splitWords(
      'start stop restart kill enable disable mask edit link set-environment import-environment set-property',
    ),
    globalOptions: ['-H', '--host', '-M', '--machine'],
    riskyOptions: splitWords('-H --host -M --machine --root --image'),
  },
});
