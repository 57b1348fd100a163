import type { PanelAction, PanelActionKey, PanelRow, PanelRowMark } from '../../contracts/frontend/command.ts';
import type { ActionResult, McpServerState } from '../../contracts/frontend/host-capabilities.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { formatHomePath } from '../../lib/files/path-style.ts';
import { formatCount } from '../../lib/text/format.ts';
import { loadMcpConfig } from '../../mcp/config/load-config.ts';
import { type ConfiguredMcpServer, describeMcpLaunchDetails } from '../../mcp/configured-mcp-server.ts';
import type { McpHub } from '../../mcp/hub.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import type { Core } from '../core.ts';
import { listSettingsFolders } from '../read-settings.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createPanelOutcome,
  createPlainTextOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

const USAGE =
  'Usage: /mcp, /mcp approve <name>, /mcp reject <name>, /mcp reconnect <name>, /mcp login <name>, /mcp tools <name>, /mcp show <name>, /mcp on <name> or /mcp off <name>.';

/** The command for MCP servers. */
export const MCP_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'mcp',
    description: 'manage MCP servers: approve, log in, reconnect, disable',
    argumentHint: '[show|approve|reject|login|reconnect|tools|on|off <name>]',
    async run(args, parts) {
      const { hub, setApproval } = parts.mcp;
      const [verb = '', name = '', ...more] = args.trim().split(/\s+/);
      if (verb === '') return createOverview(parts);
      if (name === '' || more.length > 0) return createErrorOutcome(USAGE);
      if (verb === 'tools') return showTools(name, parts);
      if (verb === 'show') return showLaunch(name, parts);
      if (verb === 'login') {
        const login = await beginMcpLogin(name, parts.core, hub);
        return login.ok ? createMarkdownOutcome(login.message) : createErrorOutcome(login.message);
      }
      if (verb === 'approve' || verb === 'reject') {
        const judged = await setApproval(name, verb === 'approve' ? 'approved' : 'rejected');
        return judged.ok ? createSuccessOutcome(judged.message) : createErrorOutcome(judged.message);
      }
      if (verb !== 'reconnect' && verb !== 'on' && verb !== 'off') return createErrorOutcome(USAGE);
      if (!hub.listStates().some((state) => state.name === name)) return reportUnknownServer(name);
      const attempt = await (verb === 'reconnect' ? hub.reconnect(name) : hub.toggle(name, verb));
      if (!attempt.ok) return createErrorOutcome(`${name} ${attempt.problem}`);
      return createSuccessOutcome(verb === 'off' ? `${name} is disabled.` : `${name} is connected.`);
    },
  },
];

/** Creates the list of servers. The actions of a server depend on its state. */
async function createOverview({ mcp, core }: ConversationParts) {
  const servers = await mcp.listConfigured();
  const { environment, cwd } = core;
  const rows = mcp.hub.listStates().map((state) =>
    createRow(
      state,
      servers.find((server) => server.name === state.name),
      (path) => formatHomePath(path, environment.home, cwd),
    ),
  );
  const empty = 'No MCP servers are configured. Add one with "ouro mcp add".';
  return createPanelOutcome({ title: 'MCP servers', command: 'mcp', isLive: true, rows, empty, actions: [] });
}

/** The maximum length of a launch command that fits below the list at any width. */
const MAX_SHOWN_CHARS = 120;

const MARKS = {
  connected: 'good',
  failed: 'bad',
  'needs-auth': 'waiting',
  pending: 'waiting',
  disabled: 'off',
} as const satisfies Readonly<Record<McpServerState['status'], PanelRowMark>>;

function createRow(
  state: McpServerState,
  server: ConfiguredMcpServer | undefined,
  shorten: (path: string) => string,
): PanelRow {
  const { name, status, scope = '', error, tools = [], serverInfo } = state;
  const summary =
    status === 'connected' ? [formatCount(tools.length, 'tool'), serverInfo?.name].filter(Boolean).join(', ') : error;
  const launch = server === undefined ? '' : describeMcpLaunchDetails(server.launch);
  // A server that waits for approval names its launch command as the reason.
  const isLaunchNamed = status === 'pending' && server?.blocked?.reason === 'approval';
  const launchLine = launch === '' || isLaunchNamed ? [] : [launch];
  const location = server?.file === undefined ? scope : `${scope}, ${shorten(server.file)}`;
  return {
    id: name,
    cells: [name, status, summary ?? ''],
    mark: MARKS[status],
    detail: [...(error === undefined ? [] : [error]), ...launchLine, location],
    actions: createActions(name, status, server),
  };
}

type RunAct = Extract<PanelAction, { kind: 'run' }>;

function createActions(name: string, status: McpServerState['status'], server: ConfiguredMcpServer | undefined) {
  const run = (key: PanelActionKey, label: string, verb: string): RunAct => ({
    kind: 'run',
    key,
    label,
    command: `mcp ${verb} ${name}`,
  });
  // A launch command that does not fit below the list must be read before it can be approved.
  const isLong = server !== undefined && describeMcpLaunchDetails(server.launch).length > MAX_SHOWN_CHARS;
  const approve: RunAct = { ...run('ctrl+a', 'approves it', 'approve'), confirmLabel: `approves ${name}` };
  if (server?.blocked !== undefined && isLong)
    return [
      run('enter', 'shows the whole command', 'show'),
      approve,
      ...(server.blocked.reason === 'approval' ? [run('ctrl+d', 'rejects it', 'reject')] : []),
    ];
  if (server?.blocked?.reason === 'approval')
    return [run('enter', 'approves it', 'approve'), run('ctrl+d', 'rejects it', 'reject')];
  if (server?.blocked?.reason === 'rejected') return [run('enter', 'approves it', 'approve')];
  if (status === 'connected')
    return [
      run('enter', 'lists its tools', 'tools'),
      run('ctrl+r', 'reconnects', 'reconnect'),
      run('ctrl+d', 'disables it', 'off'),
    ];
  if (status === 'needs-auth') return [run('enter', 'logs in', 'login'), run('ctrl+r', 'reconnects', 'reconnect')];
  return [run('enter', status === 'disabled' ? 'enables it' : 'reconnects', 'reconnect')];
}

/** Shows the full launch command of a server, and its configuration file. */
async function showLaunch(name: string, { mcp }: ConversationParts) {
  const server = (await mcp.listConfigured()).find((candidate) => candidate.name === name);
  if (server === undefined) return reportUnknownServer(name);
  return createPlainTextOutcome(
    [describeMcpLaunchDetails(server.launch), ...(server.file === undefined ? [] : [`in ${server.file}`])].join('\n\n'),
  );
}

function reportUnknownServer(name: string) {
  return createErrorOutcome(`There is no MCP server ${name}.`);
}

function showTools(name: string, { mcp }: ConversationParts) {
  const tools = mcp.hub.listStates().find((state) => state.name === name)?.tools;
  if (tools === undefined) return createErrorOutcome(`MCP server ${name} is not connected.`);
  const lines = tools.map(
    (tool) => `- **${tool.name}**${tool.description === undefined ? '' : `: ${tool.description}`}`,
  );
  return createMarkdownOutcome(lines.length === 0 ? `${name} offers no tools.` : lines.join('\n'));
}

type LoginStart = { readonly ok: boolean; readonly message: string };

const LOGIN_TIMEOUT_MS = 300_000;

/** Starts a login at a server: returns the page to open, and connects the server once the user has allowed it. */
async function beginMcpLogin(name: string, core: Core, hub: McpHub): Promise<LoginStart> {
  const folders = listSettingsFolders(core.cwd, core.environment.home);
  const { servers } = await loadMcpConfig({ ...core, folders, loaded: core.settings.loaded() });
  const launch = servers.find((server) => server.name === name)?.launch;
  if (launch?.kind !== 'http' && launch?.kind !== 'sse')
    return { ok: false, message: `There is no remote MCP server ${name} to log in to.` };
  const page = Promise.withResolvers<URL>();
  const { loginToMcpServer } = await import('../../mcp/auth/mcp-login.ts');
  const { ouroHome } = core.environment;
  const signal = AbortSignal.timeout(LOGIN_TIMEOUT_MS);
  const loggedIn = loginToMcpServer({ url: launch.url, oauth: launch.oauth, ouroHome, openPage: page.resolve, signal });
  const connected = loggedIn.then(
    () => hub.reconnect(name),
    (thrown): ActionResult => ({ ok: false, problem: getErrorMessage(thrown) }),
  );
  const pageOrAttempt = await Promise.race([page.promise, connected]);
  if (pageOrAttempt instanceof URL) {
    // Not awaited: a notice reports the result after the user has visited the page.
    void connected.then((attempt) => notifyResult(core, name, attempt));
    return { ok: true, message: `Open this page to allow access:\n\n${pageOrAttempt.href}` };
  }
  return pageOrAttempt.ok
    ? { ok: true, message: `${name} is connected.` }
    : { ok: false, message: pageOrAttempt.problem };
}

function notifyResult({ bus }: Core, name: string, attempt: ActionResult): Promise<void> {
  const text = attempt.ok ? `Logged in to ${name}; it is connected.` : `Login to ${name} failed: ${attempt.problem}`;
  return bus.emit({ type: 'notice', level: attempt.ok ? 'info' : 'warn', topic: 'mcp', text });
}
