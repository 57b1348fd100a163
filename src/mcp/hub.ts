import type { CommandInfo } from '../contracts/face/command.ts';
import type { Attempt, McpServerState } from '../contracts/face/host.ts';
import type { ResultBlock } from '../contracts/message.ts';
import type { Tool } from '../contracts/tool.ts';
import { untrustedLine, untrustedText } from '../lib/text/sanitize.ts';
import { type ConfiguredServer, launchHash } from './config/configured-server.ts';
import { keptResource } from './content.ts';
import { createLending } from './lending.ts';
import { createPrefixes } from './names.ts';
import type { McpParts } from './server/mcp-parts.ts';
import { createServerRun, type ServerRun } from './server/server-run.ts';
import { describeServer } from './server/server-state.ts';
import { openArgument, promptBlocks, readArguments } from './server-prompt.ts';

/** Something a server has to read. */
export type ServerResource = {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
};

export type PromptRun =
  | { readonly ok: true; readonly blocks: readonly ResultBlock[] }
  | { readonly ok: false; readonly why: string };

/** All servers of a run together. */
export type McpHub = ReturnType<typeof createMcpHub>;

const RESOURCE_CHARS = 300;
const INSTRUCTION_CHARS = 2_000;
const MOST_COMPLETIONS = 50;

export function createMcpHub(parts: McpParts) {
  const prefixOf = createPrefixes();
  const runs = new Map<string, ServerRun>();
  let isStarted = false;

  function add(server: ConfiguredServer): ServerRun {
    const run = createServerRun(server, prefixOf(server.name), parts);
    runs.set(server.name, run);
    return run;
  }

  async function contents(server: string, uri: string, signal: AbortSignal) {
    const connection = await known(runs, server).connected(signal);
    return (await connection.read(uri, signal)).contents;
  }

  for (const server of [...parts.servers, ...parts.hosted.map(hosted)]) add(server);

  const all = () => [...runs.values()];
  /** Those that are there for everybody. */
  const common = () => all().filter(({ server }) => server.isLent !== true);

  return {
    /** Begins with every server that may run; nobody waits for them. */
    start() {
      isStarted = true;
      for (const run of common()) run.start();
    },
    async settled() {
      await Promise.all(all().map((run) => run.settled()));
    },
    listed: (command: string) => untilOffered(common(), command),
    states: (): readonly McpServerState[] => all().map((run) => describeServer(run.server, run.now())),
    tools: (): readonly Tool[] => common().flatMap((run) => run.now().catalog.tools),
    prompts: (): readonly CommandInfo[] => common().flatMap(commandsOf),
    instructions: () => common().flatMap(instructionsOf),
    prompt: (command: string, typed: string, signal: AbortSignal) => readPrompt(all(), command, typed, signal),

    /** How the last word of a prompt's arguments could go on. */
    completions: (command: string, typed: string, signal: AbortSignal) => completeWord(all(), command, typed, signal),

    async resources(server: string | undefined, signal: AbortSignal): Promise<readonly ServerResource[]> {
      const asked = server === undefined ? all().filter(isConnected) : [known(runs, server)];
      return (await Promise.all(asked.map((run) => listResources(run, signal)))).flat();
    },

    contents,

    async read(server: string, uri: string, signal: AbortSignal): Promise<readonly ResultBlock[]> {
      const found = await contents(server, uri, signal);
      return (await Promise.all(found.map((one) => keptResource(one, parts.keepBytes)))).flat();
    },

    lend: createLending((name) => runs.get(name)),

    reconnect: async (name: string): Promise<Attempt> => runs.get(name)?.reconnect() ?? unknown(name),

    toggle: async (name: string, to: 'on' | 'off'): Promise<Attempt> => toggled(runs.get(name), to) ?? unknown(name),

    /** Puts a server in, or in the place of one of its name, and starts it. */
    async put(server: ConfiguredServer): Promise<void> {
      await runs.get(server.name)?.close();
      const run = add(server);
      if (isStarted && server.isLent !== true) run.start();
    },

    async remove(name: string): Promise<void> {
      const run = runs.get(name);
      runs.delete(name);
      await run?.switchOff();
    },

    /** Ends every server with all it has started. */
    async close() {
      await Promise.all(all().map((run) => run.close()));
    },
  };
}

function toggled(run: ServerRun | undefined, to: 'on' | 'off'): Promise<Attempt> | undefined {
  return to === 'on' ? run?.reconnect() : run?.switchOff().then(() => ({ ok: true }));
}

const isConnected = (run: ServerRun) => run.now().phase.at === 'connected';

const unknown = (name: string): Attempt => ({ ok: false, why: `There is no MCP server ${name}.` });

function known(runs: ReadonlyMap<string, ServerRun>, name: string): ServerRun {
  const run = runs.get(name);
  if (run !== undefined) return run;
  const names = [...runs.keys()].join(', ');
  throw new Error(`There is no MCP server ${name}. ${names === '' ? 'None is configured.' : `There are: ${names}.`}`);
}

function instructionsOf(run: ServerRun) {
  const { phase } = run.now();
  const words = phase.at === 'connected' ? (phase.connection.instructions ?? '') : '';
  if (words.trim() === '') return [];
  return [{ server: run.server.name, instructions: untrustedText(words).slice(0, INSTRUCTION_CHARS) }];
}

/** Resolves when one of them offers this command, or every one has listed its own. */
async function untilOffered(runs: readonly ServerRun[], command: string): Promise<void> {
  const offered = runs.map(async (run) => {
    await run.listed('prompts');
    const { prompts } = run.now().catalog;
    if (!prompts.some((prompt) => prompt.command.name === command)) throw new Error('It is not offered here.');
  });
  await Promise.any(offered).catch(() => undefined);
}

const commandsOf = (run: ServerRun) => run.now().catalog.prompts.map(({ command }) => command);

const promptOf = (run: ServerRun, command: string) =>
  run.now().catalog.prompts.find((each) => each.command.name === command);

/** What a prompt of a server says, asked for by its slash command. */
async function readPrompt(
  runs: readonly ServerRun[],
  command: string,
  typed: string,
  signal: AbortSignal,
): Promise<PromptRun> {
  for (const run of runs) {
    const prompt = promptOf(run, command);
    if (prompt === undefined) continue;
    const read = readArguments(prompt, typed);
    if (!read.ok) return read;
    const connection = await run.connected(signal);
    return { ok: true, blocks: promptBlocks(await connection.prompt(prompt.name, read.values, signal)) };
  }
  return { ok: false, why: `No connected MCP server offers /${command} now. Look at /mcp.` };
}

/** Whole words that may stand in the place of the last one. */
async function completeWord(
  runs: readonly ServerRun[],
  command: string,
  typed: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const run = runs.find((each) => promptOf(each, command) !== undefined);
  const prompt = run === undefined ? undefined : promptOf(run, command);
  const open = prompt === undefined ? undefined : openArgument(prompt, typed);
  if (run === undefined || prompt === undefined || open === undefined) return [];
  const { name, value, given } = open;
  const ref = { type: 'ref/prompt', name: prompt.name } as const;
  const connection = await run.connected(signal);
  const asked = { ref, argument: { name, value }, context: { arguments: { ...given } } };
  const values = await connection.complete(asked, signal).catch(() => []);
  return values.slice(0, MOST_COMPLETIONS).map((each) => open.wordFor(untrustedLine(each, RESOURCE_CHARS)));
}

async function listResources(run: ServerRun, signal: AbortSignal): Promise<readonly ServerResource[]> {
  const connection = await run.connected(signal);
  if (!connection.has('resources')) return [];
  const listed = await connection.resources(signal);
  // Many servers have none, and say so by an error.
  const templates = await connection.templates(signal).catch(() => []);
  return [
    ...listed.map((one) => resourceOf(run, one.uri, one)),
    ...templates.map((one) => resourceOf(run, one.uriTemplate, { ...one, name: `${one.name} ${FILL_IN}` })),
  ];
}

const FILL_IN = '(fill in what stands in braces)';

function resourceOf(
  run: ServerRun,
  uri: string,
  { name, description }: { readonly name: string; readonly description?: string | undefined },
): ServerResource {
  return {
    server: run.server.name,
    uri,
    name: untrustedLine(name, RESOURCE_CHARS),
    ...(description === undefined ? {} : { description: untrustedLine(description, RESOURCE_CHARS) }),
  };
}

/** A server inside the host, as the others are configured. */
export function hosted(server: McpParts['hosted'][number]): ConfiguredServer {
  const launch = { kind: 'host', server } as const;
  return { name: server.name, scope: 'host', launch, hash: launchHash(launch) };
}
