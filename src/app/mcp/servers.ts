import { join } from 'node:path';
import type { HostMcpServer } from '../../contracts/face/host.ts';
import type { Rule } from '../../contracts/permission.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { untilAborted } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { createFreshness } from '../../lib/files/fresh-files.ts';
import type { ProgramLedger } from '../../lib/processes/piped-program.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import { openApprovals } from '../../mcp/config/approvals.ts';
import { type McpConfig, PROJECT_FILE } from '../../mcp/config/config.ts';
import { type ConfiguredServer, launchDetails } from '../../mcp/config/configured-server.ts';
import { createMcpHub, type McpHub } from '../../mcp/hub.ts';
import { createKeepBytes } from '../../mcp/keep-bytes.ts';
import { samplingVerdict } from '../../permissions/rules/sampling-rule.ts';
import { reminder } from '../../prompt/reminder.ts';
import { settingsVariables } from '../../settings/child-variables.ts';
import { createListMcpResourcesTool } from '../../tools/list-mcp-resources/list-mcp-resources.ts';
import { createReadMcpResourceTool } from '../../tools/read-mcp-resource/read-mcp-resource.ts';
import type { Core } from '../core.ts';
import { projectFolders } from '../settings/project-folders.ts';
import { readMcp } from './read-mcp.ts';
import { createSample } from './sample.ts';

type Needs = {
  readonly roots: () => readonly string[];
  readonly ledger: ProgramLedger;
  readonly rules: () => readonly Rule[];
  /** Where whole results of calls are kept. */
  readonly resultsFolder: () => string;
  /** What will be sent next differs from what the cache holds, for a reason. */
  readonly expect: (why: string) => void;
};

/** The MCP servers of a conversation, and the tools they bring. */
export type McpServers = {
  readonly hub: McpHub;
  readonly problems: readonly string[];
  tools(): readonly Tool[];
  /** Begins with the servers; the screen is painted first. */
  start(): void;
  /** Resolves when the first request may be sent: with all servers there, or without the slow ones. */
  ready(): Promise<void>;
  /** Resolves when a server offers this command, or none does. */
  offers(command: string): Promise<void>;
  /** Starts, changes and ends servers whose files were changed since. */
  refresh(): Promise<void>;
  /** What became of resources since they were read, for the model; each is told once. */
  takeNews(): readonly string[];
  /** What a resource named `server:uri` in a prompt holds; `undefined` when no server has that name. */
  mentioned(mention: string): Promise<string | undefined>;
  /** The servers as they are configured now, for somebody who looks at them. */
  look(): Promise<readonly ConfiguredServer[]>;
  /** Servers in the head of a sub-agent, for as long as it works. */
  readonly lend: McpHub['lend'];
  /** What servers ask outside of any call goes through this first. */
  askThrough(around: (ask: AskPerson) => AskPerson): void;
  /** Approves or rejects a server of the project as it was looked at; one nobody looked at, as it is configured now. */
  judge(name: string, verdict: 'approved' | 'rejected'): Promise<{ readonly ok: boolean; readonly words: string }>;
};

type AskPerson = QueryDeps['ask'];

/** Loading the library costs what a first paint costs, so it comes after it. */
const AFTER_PAINT_MS = 150;
/** A person at the screen is not kept waiting by a server; a script wants its tools. */
const PATIENCE_MS = 2_000;
const LIST_MS = 60_000;
const MENTION_MS = 30_000;
const MENTION_CHARS = 100_000;
const MOST_NAMED = 20;
const NAME_CHARS = 300;

export async function createMcpServers(core: Core, needs: Needs): Promise<McpServers> {
  const { options, environment, cwd, settings } = core;
  const read = () => readMcp({ ...core, loaded: settings.loaded() });
  const config = await read();
  const hostServers: readonly HostMcpServer[] = options.host?.mcpServers ?? [];
  const changedResources = new Set<string>();
  const never = new AbortController().signal;
  let ask: AskPerson = (...asked) => core.bus.port().ask(...asked);
  const hub = createMcpHub({
    servers: config.servers,
    hosted: hostServers,
    cwd,
    roots: needs.roots,
    variables: environment.variables,
    added: () => settingsVariables(environment, settings.now()),
    ouroHome: environment.ouroHome,
    version: environment.version,
    limits() {
      const { mcpTimeoutMs, mcpCallTimeoutMs } = settings.limits();
      return { startMs: mcpTimeoutMs, callMs: mcpCallTimeoutMs };
    },
    ask: (question, withdrawn = never) => ask('', question, withdrawn),
    sample: createSample(core),
    samplingRule: (server) => samplingVerdict(needs.rules(), server),
    keepBytes: createKeepBytes(needs.resultsFolder),
    onChange(change) {
      if (change.kind === 'resource') changedResources.add(`${change.server}:${change.uri}`);
      if (change.kind === 'tools') needs.expect(`The tools of ${change.server} changed.`);
      if (change.kind === 'visited') {
        const { server, id } = change;
        void core.bus.tell({ type: 'elicitation_complete', server, id });
      }
      if (change.kind === 'state')
        void core.bus.tell({ type: 'notice', level: change.level, topic: 'mcp', text: change.words });
    },
    newMarker: core.newId,
    ledger: needs.ledger,
  });
  const callLimit = (fallbackMs: number) => settings.limits().mcpCallTimeoutMs ?? fallbackMs;
  const resourceTools = [
    createListMcpResourcesTool((server) => hub.resources(server, AbortSignal.timeout(callLimit(LIST_MS)))),
    createReadMcpResourceTool(hub.read),
  ];
  const waiting = config.servers.filter(({ held }) => held?.why === 'approval').map(({ name }) => name);
  return {
    hub,
    problems: [...config.problems.map(({ file, text }) => `${file}: ${text}`), ...waitingWords(waiting)],
    lend: hub.lend,
    askThrough(around) {
      ask = around(ask);
    },
    tools: () => (hub.states().length === 0 ? [] : [...resourceTools, ...hub.tools()]),
    start() {
      if (hub.states().length === 0) return;
      if (options.face === 'screen') setTimeout(hub.start, AFTER_PAINT_MS).unref();
      else hub.start();
    },
    async ready() {
      if (hub.states().length === 0) return;
      hub.start();
      const limit = options.face === 'screen' ? AbortSignal.timeout(PATIENCE_MS) : new AbortController().signal;
      await untilAborted(hub.settled(), limit);
    },
    async offers(command) {
      hub.start();
      await hub.listed(command);
    },
    takeNews() {
      const words = changeWords([...changedResources]);
      changedResources.clear();
      return words;
    },
    refresh: createRefresh(config, core, hub, read),
    mentioned: (mention) => readMention(mention, hub, callLimit(MENTION_MS)),
    ...createJudge({ core, hub, read }),
  };
}

/** What somebody names as `server:uri`, for the model. */
async function readMention(mention: string, hub: McpHub, limitMs: number): Promise<string | undefined> {
  const [, server = '', uri = ''] = /^([^:/\\]+):(.+)$/.exec(mention) ?? [];
  if (!hub.states().some(({ name }) => name === server)) return undefined;
  try {
    const blocks = await hub.read(server, uri, AbortSignal.timeout(limitMs));
    const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    return reminder(`The user named ${mention}. It reads:\n${text.slice(0, MENTION_CHARS)}`);
  } catch (thrown) {
    return reminder(`The user named ${mention}, but it could not be read: ${messageOf(thrown)}`);
  }
}

type Judging = { readonly core: Core; readonly hub: McpHub; readonly read: () => Promise<McpConfig> };

/** Shows and judges: what is approved is what was shown, and where the file says another thing by then, it is shown again. */
function createJudge({ core, hub, read }: Judging): Pick<McpServers, 'look' | 'judge'> {
  const shown = new Map<string, string>();
  const { environment, cwd } = core;
  return {
    async look() {
      const { servers } = await read();
      for (const { name, hash } of servers) shown.set(name, hash);
      return servers;
    },
    async judge(name, verdict) {
      const fresh = (await read()).servers.find((server) => server.name === name);
      if (fresh === undefined || (fresh.scope !== 'project' && fresh.scope !== 'local'))
        return { ok: false, words: `This project configures no MCP server ${name}.` };
      const known = shown.get(name);
      shown.set(name, fresh.hash);
      const what = launchDetails(fresh.launch);
      if (verdict === 'approved' && known !== undefined && known !== fresh.hash) {
        await hub.put(fresh);
        const why = `${name} has changed since it was shown, so it is not approved. It is now: ${what}.`;
        return { ok: false, words: `${why} Approve it once more if this is what you want.` };
      }
      const notice = await openApprovals(environment.ouroHome, cwd).keep(name, { hash: fresh.hash, verdict });
      const judged = (await read()).servers.find((server) => server.name === name);
      if (judged !== undefined) await hub.put(judged);
      const words = verdict === 'approved' ? `${name} is approved and starts: ${what}` : `${name} is not started.`;
      return { ok: true, words: notice === undefined ? words : `${words} ${notice}` };
    },
  };
}

/** Resources that are no longer what they were when they were read. */
function changeWords(changed: readonly string[]): readonly string[] {
  if (changed.length === 0) return [];
  const named = changed.slice(0, MOST_NAMED).map((name) => untrustedLine(name, NAME_CHARS));
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : '';
  return [
    `Resources of MCP servers have changed since they were read: ${named.join(', ')}${more}. Read them again where it matters.`,
  ];
}

/** Looks at the files, which costs a few stats, and does what became of them. */
function createRefresh(
  first: McpConfig,
  { cwd, trusted, environment, bus }: Core,
  hub: McpHub,
  read: () => Promise<McpConfig>,
): () => Promise<void> {
  let before = first;
  const own = [PROJECT_FILE, '.claude/settings.json', '.claude/settings.local.json', '.claude/agents'];
  const files = createFreshness([
    join(environment.ouroHome, 'settings.json'),
    join(environment.ouroHome, 'agents'),
    ...(trusted
      ? projectFolders(cwd, environment.home).flatMap((folder) => own.map((name) => join(folder, name)))
      : []),
  ]);
  return async () => {
    if (!(await files.changed())) return;
    const now = await read();
    const { servers } = now;
    const gone = before.servers.filter(({ name }) => !servers.some((server) => server.name === name));
    const changed = servers.filter((server) => {
      const old = before.servers.find(({ name }) => name === server.name);
      return old?.hash !== server.hash || old.held?.words !== server.held?.words;
    });
    const problems = now.problems.filter(({ text }) => !before.problems.some((old) => old.text === text));
    before = now;
    await Promise.all([...gone.map(({ name }) => hub.remove(name)), ...changed.map(hub.put)]);
    const waiting = changed.filter(({ held }) => held?.why === 'approval').map(({ name }) => name);
    const words = [...problems.map(({ file, text }) => `${file}: ${text}`), ...waitingWords(waiting)].join('\n');
    if (words !== '') await bus.tell({ type: 'notice', level: 'warn', topic: 'mcp', text: words });
  };
}

function waitingWords(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`Not started before you approve them: ${names.join(', ')}. Look with /mcp, or "ouro mcp list".`];
}
