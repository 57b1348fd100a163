import { randomBytes } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import {
  createMcpConfigActions,
  describeServerLaunch,
  type McpConfigChangeResult,
} from '../../app/mcp-config-actions.ts';
import type { FlagValuesOf } from '../../command/define-flag.ts';
import { parseFlagValues, parseJsonFlagValue } from '../../command/flag-values.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import { SUBCOMMANDS, type SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

type Flags = FlagValuesOf<typeof SUBCOMMANDS.mcp.flags>;

type McpRequest = {
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly io: ProcessIo;
  readonly manager: ReturnType<typeof createMcpConfigActions>;
  readonly shutdown: SubcommandInput['shutdown'];
};

const ACTIONS: Readonly<Record<string, (request: McpRequest) => Promise<number>>> = {
  list,
  get,
  add,
  'add-json': addJson,
  'add-from-claude-desktop': addFromDesktop,
  remove: (request) => runForServer(request, (name) => request.manager.remove(name)),
  approve: (request) => runForServer(request, (name) => request.manager.setApproval(name, 'approved')),
  reject: (request) => runForServer(request, (name) => request.manager.setApproval(name, 'rejected')),
  login: logIn,
  logout: (request) => runForServer(request, (name) => request.manager.logout(name)),
  serve,
};

/** Runs `ouro mcp …`: manages the MCP servers of the user and of this folder, or serves the tools of ouro. */
export async function runMcpCommand({
  args: [name = 'list', ...args],
  flags,
  io,
  shutdown,
}: SubcommandInput): Promise<number> {
  const parsedFlags = parseFlagValues(SUBCOMMANDS.mcp.flags, flags);
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`Unknown command "ouro mcp ${name}". Use one of: ${Object.keys(ACTIONS).join(', ')}.`);
  }
  const manager = createMcpConfigActions(io.environment, await realpath(io.cwd));
  return action({ args, flags: parsedFlags, io, manager, shutdown });
}

async function list({ flags, io, manager }: McpRequest): Promise<number> {
  const { servers, problems } = await manager.listServers();
  const states = await manager.probeServers(servers);
  if (flags.json) {
    io.stdout.write(`${JSON.stringify(states, null, 2)}\n`);
    return 0;
  }
  if (states.length === 0)
    io.stdout.write('No MCP server is configured here. "ouro mcp add <name> -- <command>" adds one.\n');
  for (const { name, status, scope, error, tools = [] } of states) {
    const server = servers.find((candidate) => candidate.name === name);
    const target = server === undefined ? '' : describeServerLaunch(server.launch);
    const detail = status === 'connected' ? `${tools.length} tools` : (error ?? '');
    printLine(io, `${status.padEnd(10)}  ${name} (${scope ?? ''})  ${target}  ${detail}`);
  }
  for (const problem of problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  return 0;
}

async function get({ args, io, manager }: McpRequest): Promise<number> {
  const serverName = takeServerName(args);
  const server = await manager.findServer(serverName);
  if (server === undefined)
    return printOutcome(io, { ok: false, message: `No MCP server ${serverName} is configured here.` });
  const [state] = await manager.probeServers([server]);
  printLine(io, `${server.name}: ${describeServerLaunch(server.launch)}`);
  printLine(
    io,
    `from ${server.file ?? 'a flag'} (${server.scope}), ${state?.status ?? ''}${state?.error === undefined ? '' : `, ${state.error}`}`,
  );
  for (const { name, description = '' } of state?.tools ?? []) printLine(io, `  ${name}  ${description}`);
  return 0;
}

async function add({ args: [name, target, ...args], flags, io, manager }: McpRequest): Promise<number> {
  if (name === undefined || target === undefined) {
    throw new UsageError('Usage: ouro mcp add <name> -- <command> [arguments], or ouro mcp add <name> <url>.');
  }
  const isAddress = flags.transport === undefined ? /^https?:\/\//.test(target) : flags.transport !== 'stdio';
  if (isAddress && args.length > 0) throw new UsageError(`Usage: ouro mcp add <name> <url>. A URL takes no arguments.`);
  const entry = isAddress
    ? {
        type: flags.transport ?? 'http',
        url: target,
        ...parsePairs('headers', flags.header, ':'),
        ...createOauthEntry(flags),
      }
    : { command: target, ...(args.length === 0 ? {} : { args }), ...parsePairs('env', flags.env, '=') };
  return printOutcome(io, await manager.add(name, entry, flags.scope));
}

/** The OAuth client, for servers where ouro was registered by hand. */
function createOauthEntry({ clientId, clientSecret, callbackPort }: Flags): object {
  const oauth = { clientId, clientSecret, callbackPort };
  return Object.values(oauth).every((value) => value === undefined) ? {} : { oauth };
}

/** Adds a server from a complete JSON entry. */
async function addJson({ args: [name, text], flags, io, manager }: McpRequest): Promise<number> {
  if (name === undefined || text === undefined)
    throw new UsageError('Usage: ouro mcp add-json <name> \'{"command": "…"}\'.');
  return printOutcome(io, await manager.add(name, parseJsonFlagValue('add-json', text), flags.scope));
}

/** Adds the servers of the Claude desktop app; servers whose name is taken are skipped. */
async function addFromDesktop({ args, flags, io, manager }: McpRequest): Promise<number> {
  const found = await manager.readDesktopServers();
  if (!found.ok) return printOutcome(io, { ok: false, message: found.problem });
  const selected = found.servers.filter(({ name }) => args.length === 0 || args.includes(name));
  const unknown = args.filter((name) => !found.servers.some((server) => server.name === name));
  if (selected.length === 0 || unknown.length > 0)
    return printOutcome(io, {
      ok: false,
      message: `${found.file} has no MCP server ${unknown.join(', ') || 'at all'}.`,
    });
  const takenNames = (await manager.listServers()).servers.map(({ name }) => name);
  let code = 0;
  for (const { name, entry } of selected) {
    const outcome = takenNames.includes(name)
      ? { ok: true, message: `Skipped ${name}: a server of this name is already configured.` }
      : await manager.add(name, entry, flags.scope);
    code = Math.max(code, printOutcome(io, outcome));
  }
  return code;
}

function parsePairs(key: 'env' | 'headers', pairs: readonly string[], separator: '=' | ':'): object {
  if (pairs.length === 0) return {};
  const entries = pairs.map((pair) => {
    const index = pair.indexOf(separator);
    if (index < 1) throw new UsageError(`"${pair}" is not of the form NAME${separator}VALUE.`);
    return [pair.slice(0, index).trim(), pair.slice(index + 1).trim()];
  });
  return { [key]: Object.fromEntries(entries) };
}

async function logIn({ args, io, manager }: McpRequest): Promise<number> {
  const showUrl = (url: URL) =>
    io.stdout.write(`Open this page and approve the access:\n\n  ${url.href}\n\nWaiting …\n`);
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return printOutcome(io, await manager.login(takeServerName(args), showUrl, controller.signal));
}

async function serve({ flags, io, shutdown }: McpRequest): Promise<number> {
  const [{ createConversation }, { parseInvocation }] = await Promise.all([
    import('../../app/compose.ts'),
    import('../args/invocation.ts'),
  ]);
  const invocation = await parseInvocation(['-p', 'serve', '--no-session-persistence'], {
    cwd: io.cwd,
    hasTerminal: false,
  });
  const modelFree = { model: 'demo', demoProject: { folder: undefined } } as const;
  const options = { ...invocation.run, ...modelFree, mcpSources: 'flags-only' } as const;
  const composed = await createConversation(options, io.environment);
  if (!composed.ok) return printOutcome(io, { ok: false, message: composed.problem });
  shutdown.attach(composed.conversation);
  const token = randomBytes(24).toString('base64url');
  const transport =
    flags.http === undefined ? ({ over: 'pipes' } as const) : ({ over: 'http', port: flags.http, token } as const);
  const server = await composed.conversation.control.serve(transport);
  if (server.url !== undefined)
    printLine(io, `Serving at ${server.url}. Clients must send the header: Authorization: Bearer ${token}`);
  await server.closed;
  return 0;
}

async function runForServer(
  { args, io }: McpRequest,
  act: (name: string) => Promise<McpConfigChangeResult>,
): Promise<number> {
  return printOutcome(io, await act(takeServerName(args)));
}

function takeServerName(args: readonly string[]): string {
  const [name] = args;
  if (name === undefined) throw new UsageError('Name one MCP server. "ouro mcp list" lists them.');
  return name;
}

function printOutcome(io: ProcessIo, { ok, message }: McpConfigChangeResult): number {
  if (ok) printLine(io, message);
  else io.stderr.write(`${sanitize(message, 'line')}\n`);
  return ok ? 0 : 1;
}

function printLine(io: ProcessIo, line: string): void {
  io.stdout.write(`${sanitize(line, 'line')}\n`);
}
