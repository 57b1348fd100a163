import type { ActionResult, HostControlPort } from '../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../contracts/json.ts';
import { joinTextBlocks } from '../contracts/message.ts';
import { EFFORTS } from '../contracts/model.ts';
import { copyAsJson } from '../lib/json.ts';
import { parseMcpServerEntry } from '../mcp/config/parse-mcp-server-entry.ts';
import { hashMcpServerLaunch } from '../mcp/configured-mcp-server.ts';
import { createHostMcpServerConfig, type McpHub } from '../mcp/hub.ts';
import { previewRewind } from '../session/rewind.ts';
import { findBuiltInToolTraits } from '../tools/tool-traits.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { markFileReadByModel, readFileForSdkHost } from './permissions/host-file-access.ts';

/** Creates the operations of a host program on the conversation. */
export function createHostControl(parts: ConversationParts): Omit<HostControlPort, 'serve'> {
  const { core, permissions, loop, shells } = parts;
  const getContext = () => ({ permissions, cwd: core.live.current().cwd });
  return {
    ...createMcpControl(parts.mcp),
    listServedTools: () =>
      loop.toolset.listEnabled().flatMap(({ name, label, spec }) => {
        const kind = findBuiltInToolTraits(name)?.served;
        return kind === undefined ? [] : [{ spec, label, kind }];
      }),
    callServedTool: async (name, input, caller) =>
      findBuiltInToolTraits(name)?.served === undefined
        ? { end: 'refused', content: `There is no tool ${name}.` }
        : loop.directCalls.call(name, input, caller),
    permissionRules: () => ({ rules: permissions.getRules(), directories: permissions.getRoots() }),
    async updatePermissions(updates) {
      await permissions.applyUpdates(updates);
      return { ok: true };
    },
    settings() {
      const { merged, layers } = core.settings.loaded();
      return {
        merged: copyAsJson(merged),
        sources: layers.map(({ source, settings }) => ({ source, settings: copyAsJson(settings) })),
      };
    },
    async updateSettings(source, settings) {
      if (source === 'flag') return applySettings(parts, settings);
      const { updateHostSettings } = await import('../settings/edit-settings.ts');
      const { cwd, trusted, environment } = core;
      return updateHostSettings(source, settings, { cwd, trusted, ouroHome: environment.ouroHome });
    },
    async stopTask(id) {
      const shell = shells.find(id)?.shell;
      if (shell === undefined && !loop.subAgents.stop(id))
        return { ok: false, problem: `There is no background task ${id}.` };
      await shell?.stop();
      return { ok: true };
    },
    previewRewind: (messageId) => previewRewind(parts.checkpoints, messageId),
    readFile: (path, maxBytes) => readFileForSdkHost(path, maxBytes, getContext()),
    markAsRead: (path, mtimeMs) =>
      markFileReadByModel(path, mtimeMs, { ...getContext(), readState: loop.toolset.readState }),
    reloadSkills: core.extensions.reload,
    agents: () =>
      core.extensions.current().agents.map(({ name, description, model }) => ({
        name,
        description,
        ...(model === undefined ? {} : { model }),
      })),
    outputStyles: () => core.extensions.current().styles.map(({ name }) => name),
    account: () => ({ apiKeySource: core.model.keySource }),
  };
}

/** Applies settings to this process only. Only the model and the effort can change while it runs. */
async function applySettings({ actions }: ConversationParts, settings: JsonObject): Promise<ActionResult> {
  for (const [key, value] of Object.entries(settings)) {
    const effort = key === 'effort' || key === 'effortLevel' ? EFFORTS.find((known) => known === value) : undefined;
    if (key === 'model' && (typeof value === 'string' || value === null)) {
      const outcome = await actions.setModel(value ?? undefined);
      if (!outcome.ok) return outcome;
    } else if (effort !== undefined) {
      const outcome = actions.setEffort(effort);
      if (!outcome.ok) return outcome;
    } else return { ok: false, problem: `${key} cannot be set to ${JSON.stringify(value)} while ouro is running.` };
  }
  return { ok: true };
}

const READ_TIMEOUT_MS = 60_000;

/** Creates the part of the control port that manages MCP servers. */
function createMcpControl({
  hub,
}: {
  readonly hub: McpHub;
}): Pick<
  HostControlPort,
  'mcpServers' | 'reconnectMcp' | 'toggleMcp' | 'setMcpServers' | 'readMcpResource' | 'callTool'
> {
  let currentNames: readonly string[] = [];
  return {
    mcpServers: hub.listStates,
    reconnectMcp: hub.reconnect,
    toggleMcp: hub.toggle,
    async setMcpServers(servers, hostServers) {
      const errors: Record<string, string> = {};
      const configured = Object.entries(servers).flatMap(([name, value]) => {
        const entry = parseMcpServerEntry(value);
        if (entry.ok) {
          return [{ name, scope: 'host', launch: entry.launch, hash: hashMcpServerLaunch(entry.launch) } as const];
        }
        errors[name] = entry.problem;
        return [];
      });
      const all = [...configured, ...hostServers.map(createHostMcpServerConfig)];
      const removed = currentNames.filter((name) => !all.some((server) => server.name === name));
      const added = all.map(({ name }) => name).filter((name) => !currentNames.includes(name));
      await Promise.all([...removed.map(hub.removeServer), ...all.map(hub.putServer)]);
      currentNames = all.map(({ name }) => name);
      hub.start();
      return { added, removed, errors };
    },
    readMcpResource: async (server, uri) =>
      (await hub.readResource(server, uri, AbortSignal.timeout(READ_TIMEOUT_MS))).map((content) => copyAsJson(content)),
    async callTool(name, input) {
      await hub.whenSettled();
      const prepared = hub
        .listTools()
        .find((tool) => tool.name === name)
        ?.prepare(input);
      if (prepared === undefined) throw new Error(`No connected MCP server has a tool ${name}.`);
      if (!prepared.ok) throw new Error(prepared.problem);
      const { content } = await prepared.call.call({
        callId: `host-${name}`,
        cwd: '/',
        signal: new AbortController().signal,
        report: () => undefined,
        ask: async () => undefined,
      });
      return typeof content === 'string' ? content : joinTextBlocks(content, '\n');
    },
  };
}
