import type { CallRisk } from '../../../contracts/permission.ts';

/** What a program puts at stake, always or where its words fit. */
export type Stake = { readonly kind: CallRisk['kind']; readonly text: string; readonly when?: RegExp };

const NETWORK: Stake = { kind: 'network', text: 'uses the network' };
const PROJECT: Stake = { kind: 'runs_project', text: 'runs code of this project' };
const PACKAGE: Stake = { kind: 'runs_download', text: 'runs a package from the network' };
const ELSEWHERE =
  /(?:^|[\s-])(?:apply|create|delete|destroy|deploy|import|install|patch|promote|publish|put|remove|replace|restart|rm|rollback|rollout|run|scale|set|start|stop|sync|uninstall|up|update|upgrade|--prod)\b/;

const inRow = (names: string, ...stakes: readonly Stake[]): Readonly<Record<string, readonly Stake[]>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, stakes]));
const when = (stake: Stake, pattern: RegExp): Stake => ({ ...stake, when: pattern });
const deletes = (text: string, pattern?: RegExp): Stake => {
  return { kind: 'deletes', text, ...(pattern === undefined ? {} : { when: pattern }) };
};
const publishes = (text: string, pattern: RegExp): Stake => ({ kind: 'publishes', text, when: pattern });

/** One row a program; the pattern is about everything behind its name. What it deletes by its operands the main table says. */
const STAKES: Readonly<Record<string, readonly Stake[]>> = {
  ...inRow(
    'git',
    deletes('deletes files that are not in git', /^(?:-\S+ )*clean\b(?!.* (?:-\w*n|--dry-run))/),
    deletes(
      'discards changes',
      /^(?:-\S+ )*(?:reset\b.* --(?:hard|merge)|restore\b|checkout\b.* (?:--|-f|--force|\.)(?: |$)|switch\b.* (?:-f|--force|--discard-changes)\b|stash (?:drop|clear))/,
    ),
    deletes(
      'deletes a branch or tag',
      /^(?:-\S+ )*(?:(?:branch|tag)\b.* (?:-[dD]|--delete)\b|push\b.*(?: --delete\b| -d\b| :))/,
    ),
    deletes('overwrites what was pushed', /^(?:-\S+ )*push\b.*(?: --force\S*| -f\b| --mirror\b| \+)/),
    publishes('publishes commits', /^(?:-\S+ )*push\b/),
    when(NETWORK, /^(?:-\S+ )*(?:clone|fetch|ls-remote|pull|push|remote update|submodule (?:add|update))\b/),
  ),
  ...inRow(
    'npm pnpm yarn bun',
    publishes('publishes a package', /^(?:publish|unpublish|deprecate|dist-tag (?:add|rm)|npm publish)\b/),
    when(PACKAGE, /^(?:exec|x|dlx|create|init [^-])/),
    when(PROJECT, /^(?:(?:run|run-script|test|t|start|build|rebuild|install|i|ci|add|workspaces?|dev|lint)\b|$)/),
    when(NETWORK, /^(?:(?:install|i|ci|add|update|upgrade|up|audit|outdated|view|info|search|publish)\b|$)/),
  ),
  ...inRow('npx bunx uvx pipx pnpx', PACKAGE),
  ...inRow(
    'pip pip3 uv poetry gem bundle composer apt apt-get dnf brew',
    when(NETWORK, /\b(?:install|add|sync|update|upgrade|download|require)\b/),
  ),
  ...inRow('twine', publishes('publishes a package', /^upload\b/), NETWORK),
  ...inRow(
    'cargo',
    publishes('publishes a package', /^(?:publish|yank)\b/),
    when(PROJECT, /^(?:run|r|test|t|build|b|bench|check|c|clippy)\b/),
    when(NETWORK, /^(?:install|fetch|update|add|search|publish)\b/),
  ),
  ...inRow('go', when(PROJECT, /^(?:run|test|generate)\b/), when(NETWORK, /^(?:get|install|mod (?:download|tidy))\b/)),
  ...inRow(
    'gh glab hub',
    publishes(
      'changes what others see',
      /\b(?:create|merge|close|comment|edit|review|reopen|upload|rerun|enable|disable|set|fork|sync|transfer|archive|-X|--method|-f|-F)\b|(?: -[XfF]\b)/,
    ),
    deletes('deletes on the server', /\bdelete\b/),
    NETWORK,
  ),
  ...inRow(
    'docker podman',
    publishes('publishes an image', /^(?:image )?push\b/),
    deletes('deletes containers, images or volumes', /^(?:\w+ )?(?:rm|rmi|prune|down .*-v)\b/),
    when({ kind: 'runs_download', text: 'runs an image' }, /^(?:container )?(?:run|create)\b|^compose up\b/),
    when(NETWORK, /^(?:image )?(?:pull|push|build|run)\b|^compose (?:up|pull|build)\b/),
  ),
  ...inRow(
    'kubectl oc helm terraform tofu pulumi aws gcloud az fly flyctl vercel netlify heroku wrangler ansible-playbook',
    deletes('deletes what runs elsewhere', /\b(?:delete|destroy|uninstall|rm|remove)\b/),
    publishes('changes what runs elsewhere', ELSEWHERE),
    NETWORK,
  ),
  ...inRow(
    'curl wget http https xh',
    publishes(
      'sends data',
      /(?:^| )(?:-X ?|--request[ =])(?:POST|PUT|PATCH|DELETE)\b|(?:^| )(?:-d|-F|-T|--data\S*|--form\S*|--upload-file|--json|--post-\S+|--body-\S+)(?:[ =@]|$)|^(?:POST|PUT|PATCH|DELETE) /,
    ),
    NETWORK,
  ),
  ...inRow('ssh scp sftp ftp lftp nc ncat telnet ping dig host nslookup whois aria2c rclone', NETWORK),
  ...inRow('rsync', when(NETWORK, /\S:|--daemon/), deletes('deletes what the other side lacks', /(?:^| )--delete/)),
  ...inRow('find fd', deletes('deletes what it finds', /(?:^| )-delete\b/)),
  ...inRow('dropdb mkfs wipefs', deletes('deletes all of it')),
  ...inRow('psql mysql sqlite3', deletes('deletes data', /\b(?:drop|delete from|truncate)\b/i)),
  ...inRow(
    'make gmake cmake ninja gradle mvn ant rake just task tox nox pytest jest vitest mocha ava phpunit rspec',
    PROJECT,
  ),
};

/** What a program of this name puts at stake with these words behind it. */
export function stakesOf(name: string, args: readonly string[]): readonly Stake[] {
  const rows = Object.hasOwn(STAKES, name) ? (STAKES[name] ?? []) : [];
  const line = args.join(' ');
  return rows.filter(({ when: pattern }) => pattern === undefined || pattern.test(line));
}

/** True for a program that brings something from the network and can hand it on. */
export function bringsFromNetwork(name: string): boolean {
  return ['curl', 'wget', 'http', 'https', 'xh', 'aria2c', 'nc', 'ncat', 'ssh', 'lftp'].includes(name);
}
