import type { McpServerState } from '../../contracts/face/host.ts';
import type { PanelAct, PanelKey, PanelMark, PanelRow } from '../../contracts/face/panel.ts';
import { formatCount } from '../../lib/text/format.ts';
import { homePath } from '../../lib/text/home-path.ts';
import { type ConfiguredServer, launchDetails } from '../../mcp/config/configured-server.ts';
import { beginLogin } from '../mcp/log-in.ts';
import { asPanel, type BuiltinCommand, done, failed, plain, show } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const USAGE =
  'Say /mcp, /mcp approve <name>, /mcp reject <name>, /mcp reconnect <name>, /mcp login <name>, /mcp tools <name>, /mcp show <name>, /mcp on <name> or /mcp off <name>.';

/** The command about MCP servers. */
export const MCP_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'mcp',
    description: 'MCP servers: their state and tools; approve, log in, reconnect, switch off',
    argumentHint: '[show|approve|reject|login|reconnect|tools|on|off <name>]',
    async run(args, parts) {
      const { hub, judge } = parts.mcp;
      const [verb = '', name = '', ...more] = args.trim().split(/\s+/);
      if (verb === '') return overview(parts);
      if (name === '' || more.length > 0) return failed(USAGE);
      if (verb === 'tools') return toolsOf(name, parts);
      if (verb === 'show') return launchOf(name, parts);
      if (verb === 'login') {
        const begun = await beginLogin(name, parts.core, hub);
        return begun.ok ? show(begun.words) : failed(begun.words);
      }
      if (verb === 'approve' || verb === 'reject') {
        const judged = await judge(name, verb === 'approve' ? 'approved' : 'rejected');
        return judged.ok ? done(judged.words) : failed(judged.words);
      }
      if (verb !== 'reconnect' && verb !== 'on' && verb !== 'off') return failed(USAGE);
      const attempt = await (verb === 'reconnect' ? hub.reconnect(name) : hub.toggle(name, verb));
      if (!attempt.ok) return failed(attempt.why.startsWith('There is') ? attempt.why : `${name} ${attempt.why}`);
      return done(verb === 'off' ? `${name} is switched off.` : `${name} is connected.`);
    },
  },
];

/** Every server with its state; what can be done with it depends on that. */
async function overview({ mcp, core }: ConversationParts) {
  const servers = await mcp.look();
  const { environment, cwd } = core;
  const rows = mcp.hub.states().map((state) =>
    rowOf(
      state,
      servers.find((one) => one.name === state.name),
      (path) => homePath(path, environment.home, cwd),
    ),
  );
  const empty = 'No MCP server is configured here. "ouro mcp add" adds one.';
  return asPanel({ title: 'MCP servers', line: 'mcp', isLive: true, rows, empty, acts: [] });
}

/** So many characters stand below the list at any width. */
const MOST_APPROVED = 120;

const MARKS = {
  connected: 'good',
  failed: 'bad',
  'needs-auth': 'waiting',
  pending: 'waiting',
  disabled: 'off',
} as const satisfies Readonly<Record<McpServerState['status'], PanelMark>>;

function rowOf(state: McpServerState, server: ConfiguredServer | undefined, short: (path: string) => string): PanelRow {
  const { name, status, scope = '', error, tools = [], serverInfo } = state;
  const about =
    status === 'connected' ? [formatCount(tools.length, 'tool'), serverInfo?.name].filter(Boolean).join(', ') : error;
  const launch = server === undefined ? '' : launchDetails(server.launch);
  const how = launch === '' || error?.includes(launch) === true ? [] : [launch];
  const where = server?.file === undefined ? scope : `${scope}, ${short(server.file)}`;
  return {
    id: name,
    cells: [name, status, about ?? ''],
    mark: MARKS[status],
    detail: [...(error === undefined ? [] : [error]), ...how, where],
    acts: actsOf(name, status, server),
  };
}

function actsOf(name: string, status: McpServerState['status'], server: ConfiguredServer | undefined) {
  const run = (key: PanelKey, label: string, verb: string): Extract<PanelAct, { kind: 'run' }> => ({
    kind: 'run',
    key,
    label,
    line: `mcp ${verb} ${name}`,
  });
  // Nothing is approved that has no room below the list: what is long is read first.
  const isLong = server !== undefined && launchDetails(server.launch).length > MOST_APPROVED;
  if (server?.held !== undefined && isLong)
    return [
      run('enter', 'all of it', 'show'),
      { ...run('ctrl+a', 'approves it', 'approve'), sure: `approves all of ${name}` },
      ...(server.held.why === 'approval' ? [run('ctrl+d', 'rejects it', 'reject')] : []),
    ];
  if (server?.held?.why === 'approval')
    return [run('enter', 'approves it', 'approve'), run('ctrl+d', 'rejects it', 'reject')];
  if (server?.held?.why === 'rejected') return [run('enter', 'approves it', 'approve')];
  if (status === 'connected')
    return [
      run('enter', 'its tools', 'tools'),
      run('ctrl+r', 'connects anew', 'reconnect'),
      run('ctrl+d', 'switches it off', 'off'),
    ];
  if (status === 'needs-auth') return [run('enter', 'logs in', 'login'), run('ctrl+r', 'connects anew', 'reconnect')];
  return [run('enter', status === 'disabled' ? 'switches it on' : 'connects anew', 'reconnect')];
}

/** How a server is started, word by word, and where that stands. */
async function launchOf(name: string, { mcp }: ConversationParts) {
  const server = (await mcp.look()).find((one) => one.name === name);
  if (server === undefined) return failed(`There is no MCP server ${name}.`);
  return plain(
    [launchDetails(server.launch), ...(server.file === undefined ? [] : [`in ${server.file}`])].join('\n\n'),
  );
}

/** What a server offers, to be read. */
function toolsOf(name: string, { mcp }: ConversationParts) {
  const tools = mcp.hub.states().find((state) => state.name === name)?.tools;
  if (tools === undefined) return failed(`${name} is no MCP server that is connected.`);
  const lines = tools.map(
    (tool) => `- **${tool.name}**${tool.description === undefined ? '' : `: ${tool.description}`}`,
  );
  return show(lines.length === 0 ? `${name} offers no tools.` : lines.join('\n'));
}
