import { randomBytes } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { launchWords, type Managed, manageMcp } from '../../app/mcp/manage-mcp.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { ValuesOf } from '../args/flag.ts';
import { jsonObjectOf, readFlags } from '../args/read-flags.ts';
import { type CommandRequest, SUBCOMMANDS } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import type { Io } from '../io.ts';

type Flags = ValuesOf<typeof SUBCOMMANDS.mcp.flags>;

type Wish = {
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly io: Io;
  readonly manager: ReturnType<typeof manageMcp>;
  readonly request: CommandRequest;
};

const ACTIONS: Readonly<Record<string, (wish: Wish) => Promise<number>>> = {
  list,
  get,
  add,
  'add-json': addJson,
  'add-from-claude-desktop': addFromDesktop,
  remove: (wish) => about(wish, (name) => wish.manager.remove(name)),
  approve: (wish) => about(wish, (name) => wish.manager.judge(name, 'approved')),
  reject: (wish) => about(wish, (name) => wish.manager.judge(name, 'rejected')),
  login: logIn,
  logout: (wish) => about(wish, (name) => wish.manager.logout(name)),
  serve,
};

/** `ouro mcp …`: the MCP servers of this folder and person. */
export async function run(request: CommandRequest): Promise<number> {
  const flags = readFlags(SUBCOMMANDS.mcp.flags, request.flags);
  const [name = 'list', ...words] = request.words;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`There is no "ouro mcp ${name}". There are: ${Object.keys(ACTIONS).join(', ')}.`);
  }
  const { io } = request;
  const manager = manageMcp(io.environment, await realpath(io.cwd));
  return action({ words, flags, io, manager, request });
}

async function list({ flags, io, manager }: Wish): Promise<number> {
  const { servers, problems } = await manager.servers();
  const states = await manager.tryOut(servers);
  if (flags.json) {
    io.stdout.write(`${JSON.stringify(states, null, 2)}\n`);
    return 0;
  }
  if (states.length === 0)
    io.stdout.write('No MCP server is configured here. "ouro mcp add <name> -- <command>" adds one.\n');
  for (const { name, status, scope, error, tools = [] } of states) {
    const server = servers.find((one) => one.name === name);
    const what = server === undefined ? '' : launchWords(server.launch);
    const more = status === 'connected' ? `${tools.length} tools` : (error ?? '');
    say(io, `${status.padEnd(10)}  ${name} (${scope ?? ''})  ${what}  ${more}`);
  }
  for (const problem of problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  return 0;
}

async function get({ words, io, manager }: Wish): Promise<number> {
  const server = await manager.named(one(words));
  if (server === undefined) return report(io, { ok: false, words: `No MCP server ${one(words)} is configured here.` });
  const [state] = await manager.tryOut([server]);
  say(io, `${server.name}: ${launchWords(server.launch)}`);
  say(
    io,
    `from ${server.file ?? 'a flag'} (${server.scope}), ${state?.status ?? ''}${state?.error === undefined ? '' : `, ${state.error}`}`,
  );
  for (const { name, description = '' } of state?.tools ?? []) say(io, `  ${name}  ${description}`);
  return 0;
}

async function add({ words: [name, target, ...args], flags, io, manager }: Wish): Promise<number> {
  if (name === undefined || target === undefined) {
    throw new UsageError('Say: ouro mcp add <name> -- <command> [arguments], or ouro mcp add <name> <address>.');
  }
  const isAddress = flags.transport === undefined ? /^https?:\/\//.test(target) : flags.transport !== 'stdio';
  const entry = isAddress
    ? { type: flags.transport ?? 'http', url: target, ...withPairs('headers', flags.header, ':'), ...loginOf(flags) }
    : { command: target, ...(args.length === 0 ? {} : { args }), ...withPairs('env', flags.env, '=') };
  return report(io, await manager.add(name, entry, flags.scope));
}

/** How to log in, where somebody has registered us. */
function loginOf({ clientId, clientSecret, callbackPort }: Flags): object {
  const oauth = { clientId, clientSecret, callbackPort };
  return Object.values(oauth).every((value) => value === undefined) ? {} : { oauth };
}

/** An entry as a page about a server gives it, whole. */
async function addJson({ words: [name, text, ...more], flags, io, manager }: Wish): Promise<number> {
  if (name === undefined || text === undefined || more.length > 0)
    throw new UsageError('Say: ouro mcp add-json <name> \'{"command": "…"}\'.');
  return report(io, await manager.add(name, jsonObjectOf('add-json', text), flags.scope));
}

/** The servers of the desktop program, as its file names them; those of a name that is taken stay as they are. */
async function addFromDesktop({ words, flags, io, manager }: Wish): Promise<number> {
  const found = await manager.desktop();
  if (!found.ok) return report(io, found);
  const wanted = found.servers.filter(({ name }) => words.length === 0 || words.includes(name));
  if (wanted.length === 0) return report(io, { ok: false, words: `${found.file} names no such MCP server.` });
  const taken = (await manager.servers()).servers.map(({ name }) => name);
  let code = 0;
  for (const { name, entry } of wanted) {
    const answer = taken.includes(name)
      ? { ok: true, words: `${name} is configured already and stays as it is.` }
      : await manager.add(name, entry, flags.scope);
    code = Math.max(code, report(io, answer));
  }
  return code;
}

function withPairs(key: 'env' | 'headers', given: readonly string[], mark: '=' | ':'): object {
  if (given.length === 0) return {};
  const entries = given.map((text) => {
    const at = text.indexOf(mark);
    if (at < 1) throw new UsageError(`"${text}" is no NAME${mark}VALUE.`);
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  });
  return { [key]: Object.fromEntries(entries) };
}

async function logIn({ words, io, manager }: Wish): Promise<number> {
  const visit = (address: URL) => io.stdout.write(`Open this page and allow it:\n\n  ${address.href}\n\nWaiting …\n`);
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return report(io, await manager.login(one(words), visit, controller.signal));
}

async function serve({ request, flags }: Wish): Promise<number> {
  const [{ createConversation }, { readInvocation }] = await Promise.all([
    import('../../app/compose.ts'),
    import('../args/invocation.ts'),
  ]);
  const { io, shutdown } = request;
  const { run } = await readInvocation(['-p', 'serve', '--no-session-persistence'], {
    cwd: io.cwd,
    hasTerminal: false,
  });
  const composed = await createConversation({ ...run, model: 'demo', mcpSources: 'flags-only' }, io.environment);
  if (!composed.ok) return report(io, { ok: false, words: composed.problem });
  shutdown.guard(composed.conversation);
  const token = randomBytes(24).toString('base64url');
  const place =
    flags.http === undefined ? ({ over: 'pipes' } as const) : ({ over: 'http', port: flags.http, token } as const);
  const served = await composed.conversation.control?.serve?.(place);
  if (served?.url !== undefined)
    say(io, `Serving at ${served.url}. A client needs this header: Authorization: Bearer ${token}`);
  await served?.closed;
  return 0;
}

async function about({ words, io }: Wish, act: (name: string) => Promise<Managed>): Promise<number> {
  return report(io, await act(one(words)));
}

function one(words: readonly string[]): string {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw new UsageError('Name one MCP server; "ouro mcp list" shows them.');
  return name;
}

function report(io: Io, { ok, words }: Managed): number {
  if (ok) say(io, words);
  else io.stderr.write(`${sanitize(words, 'line')}\n`);
  return ok ? 0 : 1;
}

function say(io: Io, line: string): void {
  io.stdout.write(`${sanitize(line, 'line')}\n`);
}
