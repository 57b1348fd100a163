import { formatCount } from '../../lib/text/format.ts';
import { launchWords } from '../../mcp/config/configured-server.ts';
import { readMcp } from '../mcp/read-mcp.ts';
import { type BuiltinCommand, done, failed, plain } from './builtin-command.ts';

const USAGE =
  'Say /mcp, /mcp approve <name>, /mcp reject <name>, /mcp reconnect <name>, /mcp on <name> or /mcp off <name>.';

/** The command about MCP servers. */
export const MCP_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'mcp',
    description: 'MCP servers: their state and tools; approve, reconnect, switch off',
    argumentHint: '[approve|reject|reconnect|on|off <name>]',
    async run(args, parts) {
      const { hub, judge } = parts.mcp;
      const [verb = '', name = '', ...more] = args.trim().split(/\s+/);
      if (verb === '') return plain(await overview(parts));
      if (name === '' || more.length > 0) return failed(USAGE);
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

type Parts = Parameters<BuiltinCommand['run']>[1];

async function overview(parts: Parts): Promise<string> {
  const { mcp, core } = parts;
  const states = mcp.hub.states();
  if (states.length === 0) return 'No MCP server is configured here. "ouro mcp add" adds one.';
  const { servers } = await readMcp({ ...core, loaded: core.settings.loaded() });
  const lines = states.map(({ name, status, scope = '', error, tools = [], serverInfo }) => {
    const server = servers.find((one) => one.name === name);
    const what = server === undefined ? '' : `\n    ${launchWords(server.launch)}`;
    const about =
      status === 'connected' ? `${formatCount(tools.length, 'tool')}, ${serverInfo?.name ?? ''}` : (error ?? '');
    return `${status.padEnd(10)}  ${name} (${scope})  ${about}${what}`;
  });
  return lines.join('\n');
}
