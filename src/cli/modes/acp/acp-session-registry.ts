import { isAbsolute } from 'node:path';
import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  type McpServer,
  RequestError,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type { CliRunOptions, SessionChoice } from '../../../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { HostFiles } from '../../../contracts/frontend/host-capabilities.ts';
import { type AcpSession, createAcpSession } from './acp-session.ts';
import { convertAcpMcpServers, parseAcpPromptContent } from './prompt-content.ts';

/** The session parameters of an ACP request. */
type SessionRequest = {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly additionalDirectories?: readonly string[];
};

/** A session to open by id: resumed (`never` copied), copied (`fork`), or new under the id of an empty one (`fresh`). */
type StoredSession = { readonly id: string; readonly fork: 'never' | 'fork' | 'fresh' };

type Entry = { readonly session: AcpSession; readonly request: SessionRequest; readonly client: AgentContext };

type OpenFiles = (sessionId: () => string) => HostFiles | undefined;

/** Creates the set of open sessions of an editor. */
export function createAcpSessionRegistry(deps: AcpAgentDeps, capabilities: () => ClientCapabilities) {
  const entries = new Map<string, Entry>();
  const createFileAccess =
    (client: AgentContext): OpenFiles =>
    (sessionId) =>
      createEditorFiles(client, capabilities(), sessionId);

  function getEntry(sessionId: string): Entry {
    const entry = entries.get(sessionId);
    if (entry === undefined) throw RequestError.invalidParams({ sessionId }, 'session not found');
    return entry;
  }

  function addSession(conversation: Conversation, request: SessionRequest, client: AgentContext): AcpSession {
    const session = createAcpSession(conversation, client, capabilities());
    entries.set(conversation.agent.sessionId, { session, request, client });
    return session;
  }

  async function drop(sessionId: string): Promise<void> {
    const entry = entries.get(sessionId);
    entries.delete(sessionId);
    await entry?.session.conversation.close('closed');
  }

  /** Trusts the folder and reopens the session with the settings, instructions and servers of the folder. */
  async function trustFolder(sessionId: string): Promise<StopReason> {
    const { session, request, client } = getEntry(sessionId);
    // The conversation runs the command, because it knows what /trust has shown before.
    const answer = await session.conversation.runCommand('trust yes');
    if (answer.kind === 'show') {
      const hasMessages = session.conversation.agent.state().messages.length > 0;
      await drop(sessionId);
      const opened = addSession(
        await openConversation(
          deps,
          request,
          { id: sessionId, fork: hasMessages ? 'never' : 'fresh' },
          createFileAccess(client),
        ),
        request,
        client,
      );
      await announce(opened, request.cwd);
    }
    await getEntry(sessionId).session.sendText(
      answer.kind === 'show' ? answer.markdown : answer.kind === 'failed' ? answer.message : '',
    );
    return 'end_turn';
  }

  /** Sends the commands of a new session, and a notice if the folder is untrusted but has settings of its own. */
  async function announce(session: AcpSession, cwd: string): Promise<void> {
    await session.sendCommands();
    if (!session.conversation.info().trusted && (await deps.hasUntrustedConfig(cwd)))
      await session.sendText(UNTRUSTED_NOTICE);
  }

  return {
    announce,
    known: (sessionId: string) => getEntry(sessionId).session,
    /** Opens a new session, or a stored one. */
    async open(request: SessionRequest, stored: StoredSession | undefined, client: AgentContext): Promise<AcpSession> {
      return addSession(await openConversation(deps, request, stored, createFileAccess(client)), request, client);
    },
    drop,
    async close(sessionId: string): Promise<void> {
      getEntry(sessionId);
      await drop(sessionId);
    },
    cancel: (sessionId: string) => entries.get(sessionId)?.session.cancel(),
    async prompt(sessionId: string, blocks: readonly ContentBlock[]): Promise<StopReason> {
      const { session } = getEntry(sessionId);
      const isTrust = /^\/trust\s+yes$/.test(parseAcpPromptContent(blocks).text.trim());
      if (isTrust && !session.conversation.info().trusted) return trustFolder(sessionId);
      return session.prompt(blocks);
    },
  };
}

/** Opens a conversation for an editor; throws a request error when that fails. */
async function openConversation(
  deps: AcpAgentDeps,
  request: SessionRequest,
  stored: StoredSession | undefined,
  openFiles: OpenFiles,
): Promise<Conversation> {
  const { cwd, additionalDirectories = [], mcpServers = [] } = request;
  if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, 'cwd must be an absolute path');
  const opened: { sessionId?: string } = {};
  const composed = await deps.openConversation({
    ...deps.options,
    host: { hooks: [], mcpServers: [], files: openFiles(() => opened.sessionId ?? '') },
    cwd,
    session: toSessionChoice(stored),
    addDirs: [...deps.options.addDirs, ...additionalDirectories],
    mcpConfig: [...deps.options.mcpConfig, ...convertAcpMcpServers(mcpServers)],
  });
  if (!composed.ok && (await deps.findKeyProblem()) !== undefined)
    throw RequestError.authRequired(undefined, composed.problem);
  if (!composed.ok) throw new RequestError(-32603, composed.problem);
  const { conversation } = composed;
  opened.sessionId = conversation.agent.sessionId;
  return conversation;
}

const UNTRUSTED_NOTICE =
  'This folder is not trusted, so its instructions, settings, commands and servers are ignored. `/trust` shows them, `/trust yes` trusts the folder and enables them in this session.\n';

function toSessionChoice(stored: StoredSession | undefined): SessionChoice {
  if (stored === undefined) return { kind: 'new' };
  const { id, fork } = stored;
  return fork === 'fresh' ? { kind: 'new', id } : { kind: 'resume', wanted: id, fork };
}

/** Creates access to unsaved files, if the editor offers it; `sessionId` is evaluated per call. */
function createEditorFiles(
  client: AgentContext,
  { fs }: ClientCapabilities,
  sessionId: () => string,
): HostFiles | undefined {
  if (fs?.readTextFile !== true && fs?.writeTextFile !== true) return undefined;
  const read: HostFiles['read'] = async (path, signal) => {
    const cancellation = { cancellationSignal: signal, stopWaitingOnCancel: true };
    return (await client.request('fs/read_text_file', { sessionId: sessionId(), path }, cancellation)).content;
  };
  const write: HostFiles['write'] = async (path, content, signal) => {
    const cancellation = { cancellationSignal: signal, stopWaitingOnCancel: true };
    const params = { sessionId: sessionId(), path, content };
    const result: unknown = await client.request('fs/write_text_file', params, cancellation);
    // avante.nvim answers a failed write with a result that is the reason.
    if (typeof result === 'string' && result !== '') throw new Error(result);
  };
  return { ...(fs.readTextFile === true ? { read } : {}), ...(fs.writeTextFile === true ? { write } : {}) };
}

/** The functions the editor agent gets from the rest of ouro. */
export type AcpAgentDeps = {
  /** Options for every session of this process. */
  readonly options: CliRunOptions;
  readonly version: string;
  readonly openConversation: (
    options: CliRunOptions,
  ) => Promise<
    { readonly ok: true; readonly conversation: Conversation } | { readonly ok: false; readonly problem: string }
  >;
  /** Lists the stored sessions of a folder, or of all folders. */
  readonly listSessions: (
    cwd: string | undefined,
  ) => Promise<readonly { readonly id: string; readonly title: string; readonly cwd: string; readonly at: string }[]>;
  /** Deletes a stored session; returns the reason of a failure. */
  readonly deleteSession: (id: string) => Promise<string | undefined>;
  /** Returns the reason why no model can be used, `undefined` when one can. */
  readonly findKeyProblem: () => Promise<string | undefined>;
  /** True if trusting the folder would enable settings, hooks or servers. */
  readonly hasUntrustedConfig: (cwd: string) => Promise<boolean>;
};
