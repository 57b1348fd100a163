import { join } from 'node:path';
import type { Feature } from '../contracts/feature.ts';
import { joinTextBlocks } from '../contracts/message.ts';
import type { Rule } from '../contracts/permission.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { Tool } from '../contracts/tool.ts';
import type { Extensions } from '../extensions/load-extensions.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { createFileChangeDetector } from '../lib/files/file-change-detector.ts';
import type { ChildProcessLedger } from '../lib/processes/piped-program.ts';
import type { ProgramCheck, ProgramStart } from '../lib/processes/program-check.ts';
import { resolveUndefinedOnAbort } from '../lib/promises.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import { truncateEnd } from '../lib/text/text-width.ts';
import type { ModelRegistry } from '../model/registry/model-registry.ts';
import type { UsageMeter } from '../model/usage-meter.ts';
import { getSamplingVerdict } from '../permissions/rules/parse-rule.ts';
import { buildSettingsVariables } from '../settings/effective-environment.ts';
import { createListMcpResourcesTool, createReadMcpResourceTool } from '../tools/mcp-resources.ts';
import { loadMcpConfig, openMcpServerApprovals } from './config/load-config.ts';
import { type McpConfig, PROJECT_MCP_FILE } from './config/resolve-config.ts';
import { type ConfiguredMcpServer, describeMcpLaunchDetails } from './configured-mcp-server.ts';
import { createBinaryContentStore } from './content.ts';
import { createMcpHub, type McpHub } from './hub.ts';
import { createResourceChanges } from './resource-changes.ts';
import { createSessionMcpSampler } from './session-sampler.ts';

type McpGuard = {
  readonly check: ProgramCheck;
  /** Approves the files of a program that the user has just agreed to start. */
  approve(start: Pick<ProgramStart, 'command'>, env: Readonly<Record<string, string>>): Promise<void>;
};

type McpCore = SessionCore & {
  readonly extensions: { current(): Extensions };
  readonly model: Pick<ModelRegistry, 'port'>;
  readonly meter: UsageMeter;
};

/** The parts of the session that its MCP servers depend on. */
type McpServersDeps = {
  readonly guard: McpGuard;
  /** Folders whose configuration counts, the nearest first. */
  readonly folders: readonly [string, ...string[]];
  /** Asks the user. */
  readonly askUser: QueryDeps['ask'];
  readonly getRoots: () => readonly string[];
  readonly ledger: ChildProcessLedger;
  readonly getRules: () => readonly Rule[];
  /** Folder that stores full results of calls. */
  readonly getResultsFolder: () => string;
  /** Announces the reason the next request will miss the prompt cache. */
  readonly expectCacheMiss: (reason: string) => void;
};

/** The MCP servers of a session, and the tools they provide. */
export type McpServers = {
  readonly hub: McpHub;
  readonly problems: readonly string[];
  listTools(): readonly Tool[];
  /** Starts the servers, on a screen after the first paint. */
  start(): void;
  /** Resolves when all servers have settled; on a screen, slow ones are not waited for. */
  whenReady(): Promise<void>;
  /** Resolves when a server offers this slash command, or none does. */
  whenCommandListed(command: string): Promise<void>;
  /** Starts, replaces and ends servers after a change of their configuration files. */
  refresh(): Promise<void>;
  /** Tells the model which resources changed since the last request. */
  readonly resourceChanges: Feature;
  /** Reads a resource mentioned as `server:uri` in a prompt; `undefined` when no server has that name. */
  readMention(mention: string): Promise<string | undefined>;
  /** Lists the configured servers for display, and remembers what was shown for `setApproval`. */
  listConfigured(): Promise<readonly ConfiguredMcpServer[]>;
  /** Leases the servers in a sub-agent's front matter while it works. */
  readonly leaseTools: McpHub['leaseTools'];
  /** Approves or rejects a server of the project, as it was last shown. */
  setApproval(
    name: string,
    verdict: 'approved' | 'rejected',
  ): Promise<{ readonly ok: boolean; readonly message: string }>;
};

/** Delay of the start on a screen: loading the SDK takes as long as the first paint. */
const START_DELAY_MS = 150;
/** Longest wait for servers on a screen; without a screen all servers are awaited. */
const READY_TIMEOUT_MS = 2_000;
const LIST_TIMEOUT_MS = 60_000;
const MENTION_TIMEOUT_MS = 30_000;
const MENTION_CHARS = 100_000;

/** Creates the MCP servers of a session from its configuration; nothing is started yet. */
export async function createMcpServers(core: McpCore, deps: McpServersDeps): Promise<McpServers> {
  const { options, environment, cwd, settings } = core;
  const loadConfig = () => loadMcpConfig({ ...core, folders: deps.folders, loaded: settings.loaded() });
  const config = await loadConfig();
  const resourceChanges = createResourceChanges();
  const neverAborted = new AbortController().signal;
  const hub = createMcpHub({
    servers: config.servers,
    hostServers: options.host?.mcpServers ?? [],
    cwd,
    getRoots: deps.getRoots,
    variables: environment.variables,
    getExtraVariables: () => buildSettingsVariables(environment, settings.current()),
    ouroHome: environment.ouroHome,
    version: environment.version,
    getLimits() {
      const { mcpTimeoutMs, mcpCallTimeoutMs } = settings.limits();
      return { startMs: mcpTimeoutMs, callMs: mcpCallTimeoutMs };
    },
    ask: (question, withdrawSignal = neverAborted) => deps.askUser('', question, withdrawSignal),
    sample: createSessionMcpSampler(core),
    getSamplingVerdict: (server) => getSamplingVerdict(deps.getRules(), server),
    saveBytes: createBinaryContentStore(deps.getResultsFolder),
    onChange(change) {
      if (change.kind === 'resource') resourceChanges.add(change.server, change.uri);
      if (change.kind === 'tools') deps.expectCacheMiss(`The tools of ${change.server} changed.`);
      if (change.kind === 'visited') {
        const { server, id } = change;
        void core.bus.emit({ type: 'elicitation_complete', server, id });
      }
      if (change.kind === 'state')
        void core.bus.emit({ type: 'notice', level: change.level, topic: 'mcp', text: change.message });
    },
    newMarker: core.newId,
    checkProgram: deps.guard.check,
    ledger: deps.ledger,
  });
  const getCallTimeout = (fallbackMs: number) => settings.limits().mcpCallTimeoutMs ?? fallbackMs;
  const resourceTools = [
    createListMcpResourcesTool((server) =>
      hub.listResources(server, AbortSignal.timeout(getCallTimeout(LIST_TIMEOUT_MS))),
    ),
    createReadMcpResourceTool(hub.readResourceBlocks),
  ];
  const unapproved = config.servers.filter(({ blocked }) => blocked?.reason === 'approval').map(({ name }) => name);
  return {
    hub,
    problems: [
      ...config.problems.map(({ file, text }) => `${file}: ${text}`),
      ...describeUnapproved(unapproved, options.frontend),
    ],
    leaseTools: hub.leaseTools,
    listTools: () => (hub.listStates().length === 0 ? [] : [...resourceTools, ...hub.listTools()]),
    start() {
      if (hub.listStates().length === 0) return;
      if (options.frontend === 'screen') setTimeout(hub.start, START_DELAY_MS).unref();
      else hub.start();
    },
    async whenReady() {
      if (hub.listStates().length === 0) return;
      hub.start();
      const limit =
        options.frontend === 'screen' ? AbortSignal.timeout(READY_TIMEOUT_MS) : new AbortController().signal;
      await resolveUndefinedOnAbort(hub.whenSettled(), limit);
    },
    async whenCommandListed(command) {
      hub.start();
      await hub.whenCommandListed(command);
    },
    resourceChanges,
    refresh: createRefresh(config, core, deps.folders, hub, loadConfig),
    readMention: (mention) => readMention(mention, hub, getCallTimeout(MENTION_TIMEOUT_MS)),
    ...createApproval({ core, hub, loadConfig, guard: deps.guard }),
  };
}

/** Reads the resource of a `server:uri` mention as a reminder for the model. */
async function readMention(mention: string, hub: McpHub, limitMs: number): Promise<string | undefined> {
  const [, server = '', uri = ''] = /^([^:/\\]+):(.+)$/.exec(mention) ?? [];
  if (!hub.listStates().some(({ name }) => name === server)) return undefined;
  try {
    const blocks = await hub.readResourceBlocks(server, uri, AbortSignal.timeout(limitMs));
    const text = joinTextBlocks(blocks, '\n');
    return wrapInReminder(`The user named ${mention}. Its content:\n${text.slice(0, MENTION_CHARS)}`);
  } catch (thrown) {
    return wrapInReminder(`The user named ${mention}, but it could not be read: ${getErrorMessage(thrown)}`);
  }
}

type ApprovalDeps = {
  readonly core: McpCore;
  readonly hub: McpHub;
  readonly loadConfig: () => Promise<McpConfig>;
  readonly guard: McpGuard;
};

/** Creates the display and approval of servers; one that changed since it was shown is shown again, not approved. */
function createApproval({
  core,
  hub,
  loadConfig,
  guard,
}: ApprovalDeps): Pick<McpServers, 'listConfigured' | 'setApproval'> {
  const shownHashes = new Map<string, string>();
  const { environment, cwd } = core;
  return {
    async listConfigured() {
      const { servers } = await loadConfig();
      for (const { name, hash } of servers) shownHashes.set(name, hash);
      return servers;
    },
    async setApproval(name, verdict) {
      const server = (await loadConfig()).servers.find((candidate) => candidate.name === name);
      if (server === undefined || (server.scope !== 'project' && server.scope !== 'local'))
        return { ok: false, message: `No MCP server ${name} is configured by this project.` };
      const shownHash = shownHashes.get(name);
      shownHashes.set(name, server.hash);
      const details = describeMcpLaunchDetails(server.launch);
      if (verdict === 'approved' && shownHash !== undefined && shownHash !== server.hash) {
        await hub.putServer(server);
        const message = `${name} changed since it was shown, so it was not approved. It is now: ${details}.`;
        return { ok: false, message: `${message} Approve it again to accept the change.` };
      }
      const notice = await openMcpServerApprovals(environment.ouroHome, cwd).save(name, { hash: server.hash, verdict });
      const { launch: agreed } = server;
      if (verdict === 'approved' && agreed.kind === 'stdio')
        await guard.approve({ command: { argv: [agreed.command, ...agreed.args] } }, agreed.env);
      const updated = (await loadConfig()).servers.find((candidate) => candidate.name === name);
      if (updated !== undefined) await hub.putServer(updated);
      // A server shown before is not repeated.
      const launch = shownHash === undefined ? `: ${details}` : '.';
      const message = verdict === 'approved' ? `${name} is approved and starting${launch}` : `${name} is rejected.`;
      return { ok: true, message: notice === undefined ? message : `${message} ${notice}` };
    },
  };
}

/** Creates the refresh, which checks the configuration files by stat and applies their changes to the hub. */
function createRefresh(
  initial: McpConfig,
  { trusted, environment, bus, options }: McpCore,
  folders: readonly string[],
  hub: McpHub,
  loadConfig: () => Promise<McpConfig>,
): () => Promise<void> {
  let current = initial;
  const projectFiles = [PROJECT_MCP_FILE, '.claude/settings.json', '.claude/settings.local.json', '.claude/agents'];
  const files = createFileChangeDetector([
    join(environment.ouroHome, 'settings.json'),
    join(environment.ouroHome, 'agents'),
    ...(trusted ? folders.flatMap((folder) => projectFiles.map((name) => join(folder, name))) : []),
  ]);
  return async () => {
    if (!(await files.hasChanged())) return;
    const next = await loadConfig();
    const { servers } = next;
    const removed = current.servers.filter(({ name }) => !servers.some((server) => server.name === name));
    const changed = servers.filter((server) => {
      const old = current.servers.find(({ name }) => name === server.name);
      return old?.hash !== server.hash || old.blocked?.message !== server.blocked?.message;
    });
    const problems = next.problems.filter(({ text }) => !current.problems.some((old) => old.text === text));
    current = next;
    await Promise.all([...removed.map(({ name }) => hub.removeServer(name)), ...changed.map(hub.putServer)]);
    const unapproved = changed.filter(({ blocked }) => blocked?.reason === 'approval').map(({ name }) => name);
    const text = [
      ...problems.map((problem) => `${problem.file}: ${problem.text}`),
      ...describeUnapproved(unapproved, options.frontend),
    ].join('\n');
    if (text !== '') await bus.emit({ type: 'notice', level: 'warn', topic: 'mcp', text });
  };
}

/** Width of a notice that takes one row in most terminals. */
const NOTICE_COLUMNS = 78;

/** Describes servers that wait for approval, in one row on the screen. */
function describeUnapproved(names: readonly string[], frontend: SessionCore['options']['frontend']): readonly string[] {
  if (names.length === 0) return [];
  if (frontend !== 'screen')
    return [`MCP servers waiting for your approval: ${names.join(', ')}. Run "ouro mcp list" to review them.`];
  const [before, after] = ['MCP servers waiting for approval: ', '. Review them with /mcp.'];
  return [`${before}${truncateEnd(names.join(', '), NOTICE_COLUMNS - before.length - after.length)}${after}`];
}
