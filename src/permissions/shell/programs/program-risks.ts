import type { CallRisk } from '../../../contracts/permission.ts';
import { createLazy } from '../../../lib/memoize.ts';
import { splitWords } from '../../../lib/text/lines.ts';
import { findProgramFacts, isUnknownProgram } from './find-program-facts.ts';

/** A risk of a program, always or if its arguments match. */
export type ProgramRisk = {
  readonly kind: CallRisk['kind'];
  readonly text: string;
  readonly when?: RegExp;
  /** Words before the name of the package that is run. */
  readonly packageAfter?: RegExp;
};

const NETWORK: ProgramRisk = { kind: 'network', text: 'uses the network' };
const PROJECT: ProgramRisk = { kind: 'runs_project', text: 'runs code of this project' };
const PACKAGE: ProgramRisk = {
  kind: 'runs_download',
  text: 'runs a downloaded package',
  packageAfter: /^(?:exec|x|dlx|create|init|run)$/,
};
const FORCED_PUSH = String.raw`(?: --force\S*| -\w*f\w*| --mirror\b| \+)`;
/** Anything but sub-commands that only show something, or work on this machine. */
const REMOTE_CHANGE =
  /(?:^|[\s-])(?:apply|create|delete|destroy|deploy|import|install|patch|promote|publish|push|put|remove|replace|restart|rm|rollback|rollout (?!status|history)|run|scale|set|start|stop|sync|uninstall|up|update|upgrade|--prod)\b|^(?!(?:[\w-]+[\s:]){0,4}(?:(?:get|list|ls|describe|show|status|logs?|tail|top|explain|version|versions|validate|diff|template|lint|search|history|info|whoami|help|read|head|lookup|batch-get|query|scan|wait|events|env|view|cat|tree|api-resources|api-versions|cluster-info|current-context|can-i|plan|preview|fmt|init|output|graph|providers|console|inspect|login|logout|completion|dev|build|types|test|lint|link|ps|apps|releases|config|cp|mv|upload|filter-log-events|presign)(?:-[\w-]+)?(?=[\s:]|$)|-(?:v|h|-version|-help)$))/;
/** Sub-commands of clients of a forge that change nothing on the server; `api` only sends with certain options. */
const FORGE_CHANGE =
  /^(?!(?:alias|api|auth|browse|completion|config|extension|help|search|status|version)\b|(?:[\w-]+ )?(?:view|list|ls|status|diff|checks|checkout|co|clone|download|watch|logs?|show|trace|lint|verify)\b|-).|^api\b.*(?: -[XfF]| --(?:method|field|raw-field|input)\b)/;

const createRows = (
  programs: string,
  ...stakes: readonly ProgramRisk[]
): Readonly<Record<string, readonly ProgramRisk[]>> => {
  const rows: Record<string, readonly ProgramRisk[]> = {};
  for (const name of programs.split(' ')) rows[name] = stakes;
  return rows;
};
const restrictTo = (stake: ProgramRisk, pattern: RegExp): ProgramRisk => ({ ...stake, when: pattern });
const createDeletion = (text: string, pattern?: RegExp): ProgramRisk => {
  return { kind: 'deletes', text, ...(pattern === undefined ? {} : { when: pattern }) };
};
const createPublication = (text: string, pattern: RegExp): ProgramRisk => ({ kind: 'publishes', text, when: pattern });
const createSecretRead = (pattern?: RegExp): ProgramRisk => {
  return { kind: 'reads_secret', text: 'prints credentials', ...(pattern === undefined ? {} : { when: pattern }) };
};
const createTransfer = (pattern?: RegExp): ProgramRisk => {
  return { kind: 'sends', text: 'sends data', ...(pattern === undefined ? {} : { when: pattern }) };
};

/** Words of sub-commands, scripts and file names that say what they do, whatever the program. */
const PUBLISHING_NAME =
  /^(?:un)?publish(?:[-:_]|$)|(?:^|[-:_./])(?:publish|deploy|release|upload)(?:[-:_.]|$)|^(?:push|submit|yank)$/;
const DELETING_NAME =
  /(?:^|:)(?:delete|del|destroy|drop|purge|prune|wipe|erase|teardown|autoremove|flush|flushall|flushdb|reset|fresh|rollback|downgrade|terminate|revoke|trash|strip)(?:[-:_]|$)/;
const SENDING_NAME = /^send$|-send$/;
/** The name of a script or target is among the first words; later ones are its operands. */
const NAMING_WORDS = 3;

/** Risks by program; the pattern matches everything after its name. Deletion of operands is in the program facts. */
const createRiskRows = (): Readonly<Record<string, readonly ProgramRisk[]>> => ({
  ...createRows(
    'git',
    createDeletion('deletes untracked files', /^clean\b(?!.* (?:-\w*n|--dry-run))/),
    createDeletion('deletes files', /^rm\b(?!.* --(?:cached|dry-run))/),
    {
      kind: 'discards',
      text: 'discards changes',
      when: /^(?:reset\b.* --(?:hard|merge|keep)|restore\b(?! --staged(?! .*--worktree))|checkout\b.* (?:--|-[a-eg-zA-Z\d_]*f\w*|--force|--ours|--theirs|\.|\S+ [^-\s]\S*|\S*\.\w{1,5})(?: |$)|switch\b.* (?:-f|-\w*C|--force(?:-create)?|--discard-changes)\b|stash (?:drop|clear|pop)|(?:am|merge|rebase|cherry-pick|revert) --(?:abort|quit|skip)|read-tree\b.* (?:-u|--reset)|checkout-index\b.* (?:-\w*f|--force)|worktree remove|submodule deinit)/,
    },
    createDeletion(
      'deletes a branch or tag',
      /^(?:(?:branch|tag)\b.* (?:-\w*[dDMC]\w*|--delete|--force|-f)\b|update-ref\b.* -d\b|push\b.*(?: --delete\b| -d\b| --prune\b| :))/,
    ),
    createDeletion('deletes history', /^(?:reflog (?:expire|delete)|gc\b.* --prune|prune\b|filter-branch|filter-repo)/),
    createDeletion('overwrites pushed commits', new RegExp(`^push\\b.*${FORCED_PUSH}`)),
    createPublication(
      'publishes commits',
      new RegExp(
        String.raw`^(?:push\b(?!.*${FORCED_PUSH})|(?:send-pack|send-email|lfs push|svn dcommit|p4 submit|subtree push)\b)`,
      ),
    ),
    createSecretRead(/^credential\S* (?:fill|get)\b/),
    restrictTo(NETWORK, /^(?:clone|fetch|ls-remote|pull|push|remote update|submodule (?:add|update))\b/),
  ),
  ...createRows(
    'npm pnpm yarn bun',
    createPublication(
      'publishes a package',
      /^(?:npm )?(?:publish|unpublish|deprecate|undeprecate|(?:dist-tag|tag|owner|access|token|team|hook|profile|org) )/,
    ),
    restrictTo(PACKAGE, /^(?:exec|x|dlx|create|init [^-])/),
    restrictTo(PROJECT, /^(?:(?:run|run-script|test|t|start|build|rebuild|install|i|ci|add|workspaces?|dev|lint)\b|$)/),
    restrictTo(NETWORK, /^(?:(?:install|i|ci|add|update|upgrade|up|audit|outdated|view|info|search|publish)\b|$)/),
  ),
  ...createRows('npx bunx uvx pipx pnpx', PACKAGE),
  ...createRows(
    'pip pip3 uv poetry gem bundle composer apt apt-get dnf brew',
    restrictTo(NETWORK, /\b(?:install|add|sync|update|upgrade|download|require)\b/),
  ),
  ...createRows('twine', createPublication('publishes a package', /^upload\b/), NETWORK),
  ...createRows(
    'cargo',
    createPublication('publishes a package', /^(?:publish|yank|owner)\b/),
    restrictTo(PROJECT, /^(?:run|r|test|t|build|b|bench|check|c|clippy)\b/),
    restrictTo(NETWORK, /^(?:install|fetch|update|add|search|publish)\b/),
  ),
  ...createRows(
    'go',
    restrictTo(PROJECT, /^(?:run|test|generate)\b/),
    restrictTo(NETWORK, /^(?:get|install|mod (?:download|tidy))\b/),
  ),
  ...createRows(
    'gh glab hub tea',
    createPublication('changes data on the server', FORGE_CHANGE),
    createDeletion('deletes data on the server', /\bdelete\b/),
    createSecretRead(/^auth (?:token|status\b.* (?:-t|--show-token))/),
    NETWORK,
  ),
  ...createRows(
    'docker podman docker-compose nerdctl buildah',
    createPublication(
      'publishes an image',
      /^(?:image |manifest |compose |plugin )?push\b|^(?:buildx )?build\b.* --push\b/,
    ),
    createDeletion(
      'deletes containers, images or volumes',
      /^(?:\w+ )?(?:rm|rmi|prune|kill)\b|^(?:compose )?down\b.* (?:-v|--volumes|--rmi)/,
    ),
    restrictTo(
      { kind: 'runs_download', text: 'runs a container image' },
      /^(?:container )?(?:run|create)\b|^compose up\b/,
    ),
    restrictTo(NETWORK, /^(?:image )?(?:pull|push|build|run)\b|^compose (?:up|pull|build)\b/),
  ),
  ...createRows(
    'kubectl oc helm terraform tofu pulumi aws gcloud az fly flyctl vercel netlify heroku wrangler doctl hcloud oci eksctl nomad consul argocd flux railway supabase firebase serverless sls cdk sam eb etcdctl bq cf dokku surge now',
    createDeletion('deletes remote resources', /\b(?:delete|del|destroy|uninstall|rm|remove|reset|terminate)\b/),
    createPublication('changes remote resources', REMOTE_CHANGE),
    createTransfer(/\b(?:cp|mv|sync|upload)\b/),
    createSecretRead(
      /\bsecrets?\b|print-(?:access|identity)-token|get-(?:access-token|secret-value|login-password|session-token|federation-token|authorization-token)|assume-role|create-access-key|--with-decryption|configure get|^config(?:$|:get)|auth:token|config view\b(?:(?!config view\b).)* --raw/,
    ),
    NETWORK,
  ),
  ...createRows(
    'ansible-playbook',
    createPublication('changes remote resources', /^(?!.*--(?:check|syntax-check|list-))/),
  ),
  ...createRows('svn cvs fossil', createPublication('publishes commits', /^(?:commit|ci|import)\b/)),
  ...createRows('skopeo', createPublication('publishes an image', /^(?:copy|sync|delete)\b/)),
  ...createRows(
    'http https xh',
    // Data without a method is sent by POST; `a==b` is a part of the address, `a:b` a header.
    createTransfer(/^(?:POST|PUT|PATCH|DELETE) |\s[\w.-]+(?::?=(?!=)|@)|(?:^| )(?:-[a-zA-Z]*f|--form|--raw)/),
    NETWORK,
  ),
  ...createRows(
    'curl curlie wget',
    createTransfer(
      /(?:^| )(?:-X ?|--request[ =]|--method[ =])(?!GET\b|HEAD\b)\w|(?:^| )-(?!-)[a-zA-Z]*[dFT]|(?:^| )--(?:data\S*|form\S*|upload-file|json|post-\S+|body-\S+|url-query)(?:[ =@]|$)/,
    ),
    NETWORK,
  ),
  ...createRows(
    'scp sftp ftp lftp nc ncat socat telnet rclone mail mailx mutt sendmail msmtp swaks gsutil azcopy s3cmd s5cmd mc b2',
    createTransfer(),
    NETWORK,
  ),
  ...createRows('ssh ping dig host nslookup whois aria2c', NETWORK),
  ...createRows(
    'rsync',
    createTransfer(/\S:|--daemon/),
    restrictTo(NETWORK, /\S:|--daemon/),
    createDeletion('deletes files', /(?:^| )--(?:delete|remove-source-files)/),
  ),
  ...createRows('find fd', createDeletion('deletes the files it finds', /(?:^| )-delete\b/)),
  ...createRows(
    'pass gopass op bw lpass vault security secret-tool keyring age sops doppler chamber infisical ansible-vault',
    createSecretRead(),
  ),
  ...createRows('gpg gpg2', createSecretRead(/--export-secret/)),
  ...createRows('env', createSecretRead(/^$/)),
  ...createRows('printenv', createSecretRead()),
  ...createRows('dropdb mkfs mkfs.ext4 mkfs.xfs wipefs lvremove vgremove', createDeletion('erases all data')),
  ...createRows('srm trash trash-put rimraf truncate', createDeletion('deletes files')),
  ...createRows('crontab', createDeletion('deletes the scheduled commands', /(?:^| )-r\b/)),
  ...createRows(
    'psql mysql mariadb sqlite3 mongosh mongo',
    createDeletion('deletes data', /\b(?:drop|delete from|truncate)\b|\b(?:drop|delete|remove)\w*\(/i),
  ),
  ...createRows(
    'make gmake cmake ninja gradle mvn ant rake just task tox nox pytest jest vitest mocha ava phpunit rspec',
    PROJECT,
  ),
});
const getRiskRows = createLazy(createRiskRows);

/** Lists the risks of a program with these arguments. */
export function listProgramRisks(name: string, args: readonly string[]): readonly ProgramRisk[] {
  const rows = Object.hasOwn(getRiskRows(), name) ? (getRiskRows()[name] ?? []) : [];
  const line = skipGlobalOptions(name, args).join(' ');
  const matching = rows.filter(({ when: pattern }) => pattern === undefined || pattern.test(line));
  const named = listNamedRisks(name, args, rows).filter(({ kind }) => !matching.some((risk) => risk.kind === kind));
  return [...matching, ...named];
}

/** Risks that outlast the call and cannot be undone: an answer to them is not stored. */
const LASTING_RISKS: readonly CallRisk['kind'][] = [
  'reads_secret',
  'deletes',
  'discards',
  'publishes',
  'sends',
  'runs_download',
];

/** True for a risk that allows an answer to be remembered for the session at most. */
export function limitsApprovalToSession({ kind }: Pick<CallRisk, 'kind'>): boolean {
  return LASTING_RISKS.includes(kind);
}

/** Returns the arguments from the sub-command on. */
function skipGlobalOptions(name: string, args: readonly string[]): readonly string[] {
  const { globalOptions } = findProgramFacts(name);
  if (globalOptions === undefined) return args;
  let index = 0;
  while (/^[-+]/.test(args[index] ?? '')) index += globalOptions.includes(args[index] ?? '') ? 2 : 1;
  return args.slice(index);
}

/** Lists the risks that the words of a sub-command, a script or a target state: `npm run deploy`, `./publish.sh`. */
function listNamedRisks(name: string, args: readonly string[], known: readonly ProgramRisk[]): readonly ProgramRisk[] {
  const { suggest, runsProjectScripts, interpreter, builtins, commandMarkers } = findProgramFacts(name);
  const words = args.filter((arg) => !arg.startsWith('-')).slice(0, interpreter === undefined ? NAMING_WORDS : 2);
  const isOwn = builtins === undefined || builtins.includes(words[0] ?? '');
  // Where the sub-commands that publish are known, other words are operands.
  const isKnown = isOwn && runsProjectScripts !== true && known.some(({ kind }) => kind === 'publishes');
  const startsScripts =
    isUnknownProgram(name) ||
    typeof suggest === 'number' ||
    runsProjectScripts === true ||
    commandMarkers?.includes('run') === true;
  if (isKnown || (!startsScripts && interpreter === undefined)) return [];
  const names = [name, ...words];
  return [
    ...(names.some((word) => PUBLISHING_NAME.test(word)) ? [PUBLISHES] : []),
    ...(names.some((word) => DELETING_NAME.test(word)) ? [DELETES] : []),
    ...(names.some((word) => SENDING_NAME.test(word)) ? [createTransfer()] : []),
  ];
}

const PUBLISHES: ProgramRisk = { kind: 'publishes', text: 'publishes or deploys' };
const DELETES: ProgramRisk = { kind: 'deletes', text: 'deletes data' };

/** True for a program that downloads data and can pass it on. */
export function isDownloader(name: string): boolean {
  return ['curl', 'wget', 'http', 'https', 'xh', 'aria2c', 'nc', 'ncat', 'ssh', 'lftp'].includes(name);
}

/** Programs that talk to a service, to a user or to other processes. */
const getServiceClients = createLazy(
  () =>
    new Set(
      splitWords(`
    docker docker-compose podman nerdctl buildah kubectl helm systemctl service launchctl sudo su doas pkexec ssh-add
    psql mysql mariadb mongosh mongo redis-cli pg_dump pg_restore sqlcmd kill pkill killall at crontab xdg-open open
    code notify-send tmux screen nohup setsid disown mount umount gpg git watch
  `),
    ),
);

/** True for a program whose effects do not show in the files that it changes. */
export function needsService(name: string): boolean {
  return getServiceClients().has(name);
}
