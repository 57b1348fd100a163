import type { CommandInfo } from '../contracts/frontend/command.ts';
import type { ActionResult, McpServerState } from '../contracts/frontend/host-capabilities.ts';
import type { ResultBlock } from '../contracts/message.ts';
import type { Tool } from '../contracts/tool.ts';
import { resolveUndefinedOnAbort } from '../lib/promises.ts';
import { sanitizeUntrusted, sanitizeUntrustedLine } from '../lib/text/sanitize.ts';
import type { McpHubDeps } from './client/hub-deps.ts';
import { createManagedMcpServer, type ManagedMcpServer } from './client/managed-mcp-server.ts';
import { describeMcpServer } from './client/mcp-server-lifecycle.ts';
import { type ConfiguredMcpServer, hashMcpServerLaunch } from './configured-mcp-server.ts';
import { convertMcpResource } from './content.ts';
import { convertMcpPromptResult, findTypedMcpPromptArgument, parseMcpPromptArguments } from './prompt-commands.ts';
import { createPrefixAllocator } from './tools.ts';

type ServerResource = {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
};

/** The content of a server's prompt, or the reason there is none. */
type PromptResult =
  | { readonly ok: true; readonly blocks: readonly ResultBlock[] }
  | { readonly ok: false; readonly problem: string };

/** All MCP servers of a session: their tools, prompts and resources, and how they are started and ended. */
export type McpHub = ReturnType<typeof createMcpHub>;

const RESOURCE_CHARS = 300;
const INSTRUCTION_CHARS = 2_000;
const MAX_COMPLETIONS = 50;

/** Creates the hub of the configured servers; nothing is started yet. */
export function createMcpHub(deps: McpHubDeps) {
  const allocatePrefix = createPrefixAllocator();
  const managedServers = new Map<string, ManagedMcpServer>();
  let isStarted = false;

  function addServer(server: ConfiguredMcpServer): ManagedMcpServer {
    const managed = createManagedMcpServer(server, allocatePrefix(server.name), deps);
    managedServers.set(server.name, managed);
    return managed;
  }

  /** Reads a resource as the server sends it. */
  async function readResource(server: string, uri: string, signal: AbortSignal) {
    const connection = await requireServer(managedServers, server).waitForConnection(signal);
    return (await connection.readResource(uri, signal)).contents;
  }

  for (const server of [...deps.servers, ...deps.hostServers.map(createHostMcpServerConfig)]) addServer(server);

  const listAll = () => [...managedServers.values()];
  /** Servers of the session; those of sub-agents are only leased. */
  const listShared = () => listAll().filter(({ server }) => server.isAgentOnly !== true);

  return {
    /** Starts every server that may run, without waiting for any of them. */
    start() {
      isStarted = true;
      for (const managed of listShared()) managed.start();
    },
    /** Resolves when every server is connected or has failed. */
    async whenSettled() {
      await Promise.all(listAll().map((managed) => managed.whenSettled()));
    },
    /** Resolves when a server offers this slash command, or all servers have listed their prompts. */
    whenCommandListed: (command: string) => waitUntilOffered(listShared(), command),
    listStates: (): readonly McpServerState[] =>
      listAll().map((managed) => describeMcpServer(managed.server, managed.getState())),
    listTools: (): readonly Tool[] => listShared().flatMap((managed) => managed.getState().catalog.tools),
    /** The servers' prompts as slash commands. */
    listPrompts: (): readonly CommandInfo[] => listShared().flatMap(listCommands),
    listInstructions: (): readonly { readonly server: string; readonly instructions: string }[] =>
      listShared().flatMap(listInstructions),
    /** Runs a server's prompt, called by its slash command. */
    runPrompt: (command: string, typed: string, signal: AbortSignal): Promise<PromptResult> =>
      runPrompt(listAll(), command, typed, signal),
    /** Completes the last word of a prompt's arguments. */
    completeArguments: (command: string, typed: string, signal: AbortSignal): Promise<readonly string[]> =>
      completeWord(listAll(), command, typed, signal),

    /** Lists the resources of one server, or of all connected servers. */
    async listResources(server: string | undefined, signal: AbortSignal): Promise<readonly ServerResource[]> {
      const selected = server === undefined ? listAll().filter(isConnected) : [requireServer(managedServers, server)];
      return (await Promise.all(selected.map((managed) => listResources(managed, signal)))).flat();
    },

    readResource,

    /** Reads a resource as blocks for the model. */
    async readResourceBlocks(server: string, uri: string, signal: AbortSignal): Promise<readonly ResultBlock[]> {
      const resources = await readResource(server, uri, signal);
      return (await Promise.all(resources.map((resource) => convertMcpResource(resource, deps.saveBytes)))).flat();
    },

    /** Leases the servers of a sub-agent's front matter. */
    leaseTools: createLeasing((name) => managedServers.get(name)),

    reconnect: async (name: string): Promise<ActionResult> =>
      managedServers.get(name)?.reconnect() ?? unknownServer(name),

    toggle: async (name: string, to: 'on' | 'off'): Promise<ActionResult> =>
      toggleServer(managedServers.get(name), to) ?? unknownServer(name),

    /** Adds a server, replacing one of the same name, and starts it. */
    async putServer(server: ConfiguredMcpServer) {
      await managedServers.get(server.name)?.close();
      const managed = addServer(server);
      if (isStarted && server.isAgentOnly !== true) managed.start();
    },

    async removeServer(name: string) {
      const managed = managedServers.get(name);
      managedServers.delete(name);
      await managed?.disable();
    },

    /** Ends every server and everything it started. */
    async close() {
      await Promise.all(listAll().map((managed) => managed.close()));
    },
  };
}

function toggleServer(managed: ManagedMcpServer | undefined, to: 'on' | 'off'): Promise<ActionResult> | undefined {
  return to === 'on' ? managed?.reconnect() : managed?.disable().then(() => ({ ok: true }));
}

const isConnected = (managed: ManagedMcpServer) => managed.getState().phase.status === 'connected';

const unknownServer = (name: string): ActionResult => ({ ok: false, problem: `There is no MCP server ${name}.` });

/** Returns the server of that name; throws with the known names otherwise. */
function requireServer(managedServers: ReadonlyMap<string, ManagedMcpServer>, name: string): ManagedMcpServer {
  const managed = managedServers.get(name);
  if (managed !== undefined) return managed;
  const names = [...managedServers.keys()].join(', ');
  throw new Error(`There is no MCP server ${name}. ${names === '' ? 'None is configured.' : `There are: ${names}.`}`);
}

function listInstructions(managed: ManagedMcpServer) {
  const { phase } = managed.getState();
  const text = phase.status === 'connected' ? (phase.connection.instructions ?? '') : '';
  if (text.trim() === '') return [];
  return [{ server: managed.server.name, instructions: sanitizeUntrusted(text).slice(0, INSTRUCTION_CHARS) }];
}

/** Resolves when a server offers this command, or every server has listed its prompts. */
async function waitUntilOffered(managedServers: readonly ManagedMcpServer[], command: string): Promise<void> {
  const searches = managedServers.map(async (managed) => {
    await managed.whenListed('prompts');
    const { prompts } = managed.getState().catalog;
    if (!prompts.some((prompt) => prompt.command.name === command))
      throw new Error('The server does not offer the command.');
  });
  await Promise.any(searches).catch(() => undefined);
}

const listCommands = (managed: ManagedMcpServer) => managed.getState().catalog.prompts.map(({ command }) => command);

const findPrompt = (managed: ManagedMcpServer, command: string) =>
  managed.getState().catalog.prompts.find((prompt) => prompt.command.name === command);

/** Gets the content of a server's prompt, called by its slash command. */
async function runPrompt(
  managedServers: readonly ManagedMcpServer[],
  command: string,
  typed: string,
  signal: AbortSignal,
): Promise<PromptResult> {
  for (const managed of managedServers) {
    const prompt = findPrompt(managed, command);
    if (prompt === undefined) continue;
    const parsed = parseMcpPromptArguments(prompt, typed);
    if (!parsed.ok) return parsed;
    const connection = await managed.waitForConnection(signal);
    return { ok: true, blocks: convertMcpPromptResult(await connection.getPrompt(prompt.name, parsed.values, signal)) };
  }
  return { ok: false, problem: `No connected MCP server offers /${command}. Run /mcp to see the servers.` };
}

/** Completes the last word of a prompt's arguments; returns whole words that replace it. */
async function completeWord(
  managedServers: readonly ManagedMcpServer[],
  command: string,
  typed: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const managed = managedServers.find((candidate) => findPrompt(candidate, command) !== undefined);
  const prompt = managed === undefined ? undefined : findPrompt(managed, command);
  const open = prompt === undefined ? undefined : findTypedMcpPromptArgument(prompt, typed);
  if (managed === undefined || prompt === undefined || open === undefined) return [];
  const { name, value, previous } = open;
  const ref = { type: 'ref/prompt', name: prompt.name } as const;
  const connection = await managed.waitForConnection(signal);
  const request = { ref, argument: { name, value }, context: { arguments: { ...previous } } };
  const values = await connection.complete(request, signal).catch(() => []);
  return values.slice(0, MAX_COMPLETIONS).map((text) => open.formatValue(sanitizeUntrustedLine(text, RESOURCE_CHARS)));
}

async function listResources(managed: ManagedMcpServer, signal: AbortSignal): Promise<readonly ServerResource[]> {
  const connection = await managed.waitForConnection(signal);
  if (!connection.hasCapability('resources')) return [];
  const listed = await connection.listResources(signal);
  // Many servers without templates answer with an error.
  const templates = await connection.listResourceTemplates(signal).catch(() => []);
  return [
    ...listed.map((resource) => describeResource(managed, resource.uri, resource)),
    ...templates.map((template) =>
      describeResource(managed, template.uriTemplate, { ...template, name: `${template.name} ${FILL_IN}` }),
    ),
  ];
}

const FILL_IN = '(fill in the parts in braces)';

function describeResource(
  managed: ManagedMcpServer,
  uri: string,
  { name, description }: { readonly name: string; readonly description?: string | undefined },
): ServerResource {
  return {
    server: managed.server.name,
    uri,
    name: sanitizeUntrustedLine(name, RESOURCE_CHARS),
    ...(description === undefined ? {} : { description: sanitizeUntrustedLine(description, RESOURCE_CHARS) }),
  };
}

/** Creates the configuration of a server that runs in the host process. */
export function createHostMcpServerConfig(server: McpHubDeps['hostServers'][number]): ConfiguredMcpServer {
  const launch = { kind: 'host', server } as const;
  return { name: server.name, scope: 'host', launch, hash: hashMcpServerLaunch(launch) };
}

/** The tools of servers leased to one sub-agent; released when it ends. */
type ToolLease = {
  readonly tools: readonly Tool[];
  /** Ends the lease; a server without leases is stopped. */
  release(): Promise<void>;
};

/** Creates the leasing of servers from sub-agents' front matter: each runs while it has a lease. */
function createLeasing(getServer: (name: string) => ManagedMcpServer | undefined) {
  const leaseCounts = new Map<ManagedMcpServer, number>();

  return async (names: readonly string[], signal: AbortSignal): Promise<ToolLease> => {
    const leased = names.flatMap((name) => getServer(name) ?? []).filter(({ server }) => server.isAgentOnly === true);
    for (const managed of leased) {
      leaseCounts.set(managed, (leaseCounts.get(managed) ?? 0) + 1);
      managed.start();
    }
    await resolveUndefinedOnAbort(Promise.all(leased.map((managed) => managed.whenListed('tools'))), signal);
    return {
      tools: leased.flatMap((managed) => managed.getState().catalog.tools),
      async release() {
        const idle = leased.filter((managed) => {
          const remaining = (leaseCounts.get(managed) ?? 1) - 1;
          leaseCounts.set(managed, remaining);
          return remaining === 0;
        });
        await Promise.all(idle.map((managed) => managed.stop()));
      },
    };
  };
}
