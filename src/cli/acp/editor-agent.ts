import { isAbsolute } from 'node:path';
import {
  type AgentApp,
  type AgentContext,
  agent,
  type McpServer,
  PROTOCOL_VERSION,
  RequestError,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import { configOptionsOf, setConfigOption } from './config-options.ts';
import { mcpConfigOf } from './content.ts';
import { createEditorSession, type EditorSession } from './editor-session.ts';

export type EditorPort = {
  /** Options that hold for every session of this process. */
  readonly options: RunOptions;
  readonly version: string;
  readonly open: (
    options: RunOptions,
  ) => Promise<
    { readonly ok: true; readonly conversation: Conversation } | { readonly ok: false; readonly problem: string }
  >;
  /** Stored sessions of a folder, or of all. */
  readonly list: (
    cwd: string | undefined,
  ) => Promise<readonly { readonly id: string; readonly title: string; readonly cwd: string; readonly at: string }[]>;
};

type Wanted = {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly additionalDirectories?: readonly string[];
};

/** Our side of the Agent Client Protocol: an editor opens sessions and talks in them. */
export function createEditorAgent(port: EditorPort): AgentApp {
  const sessions = createSessions(port);

  return agent({ name: 'ouro' })
    .onRequest('initialize', () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'ouro', title: 'ouro', version: port.version },
      authMethods: [],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
    }))
    .onRequest('session/new', async ({ params, client }) => {
      const session = await sessions.open(params, undefined, client);
      announceLater(session);
      return { sessionId: session.conversation.agent.sessionId, ...choicesOf(session.conversation) };
    })
    .onRequest('session/load', async ({ params, client }) => {
      const session = await sessions.open(params, params.sessionId, client);
      await session.replay();
      announceLater(session);
      return choicesOf(session.conversation);
    })
    .onRequest('session/resume', async ({ params, client }) => {
      const session = await sessions.open(params, params.sessionId, client);
      announceLater(session);
      return choicesOf(session.conversation);
    })
    .onRequest('session/list', async ({ params }) => {
      const stored = await port.list(params.cwd ?? undefined);
      return { sessions: stored.map(({ id, title, cwd, at }) => ({ sessionId: id, title, cwd, updatedAt: at })) };
    })
    .onRequest('session/close', ({ params }) => sessions.close(params.sessionId))
    .onRequest('session/set_mode', ({ params }) => {
      const outcome = sessions.known(params.sessionId).conversation.setMode(params.modeId);
      if (!outcome.ok) throw RequestError.invalidParams({ modeId: params.modeId }, outcome.why);
    })
    .onRequest('session/set_config_option', async ({ params }) => {
      const { conversation } = sessions.known(params.sessionId);
      const why = await setConfigOption(conversation, params.configId, String(params.value));
      if (why !== undefined) throw RequestError.invalidParams({ configId: params.configId }, why);
      return { configOptions: configOptionsOf(conversation) };
    })
    .onRequest('session/prompt', async ({ params }) => ({
      stopReason: await sessions.known(params.sessionId).prompt(params.prompt),
    }))
    .onNotification('session/cancel', ({ params }) => sessions.cancel(params.sessionId));
}

/** The sessions that an editor has open. */
function createSessions({ options, open: compose }: EditorPort) {
  const sessions = new Map<string, EditorSession>();

  function known(sessionId: string): EditorSession {
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.invalidParams({ sessionId }, 'there is no such session');
    return session;
  }

  return {
    known,
    /** A new session, or the stored one of this id. */
    async open(wanted: Wanted, stored: string | undefined, client: AgentContext): Promise<EditorSession> {
      const { cwd, additionalDirectories = [], mcpServers = [] } = wanted;
      if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, 'cwd must be an absolute path');
      const composed = await compose({
        ...options,
        cwd,
        session: stored === undefined ? { kind: 'new' } : { kind: 'resume', wanted: stored, fork: 'same' },
        addDirs: [...options.addDirs, ...additionalDirectories],
        mcpConfig: [...options.mcpConfig, ...mcpConfigOf(mcpServers)],
      });
      if (!composed.ok) throw new RequestError(-32603, composed.problem);
      const session = createEditorSession(composed.conversation, client);
      sessions.set(composed.conversation.agent.sessionId, session);
      return session;
    },
    async close(sessionId: string): Promise<void> {
      const { conversation } = known(sessionId);
      sessions.delete(sessionId);
      await conversation.close('closed');
    },
    cancel: (sessionId: string) => sessions.get(sessionId)?.cancel(),
  };
}

/** An editor knows a session only once it has the answer that names it. */
function announceLater(session: EditorSession): void {
  setTimeout(() => void session.announceCommands().catch(() => undefined), 0);
}

const MODES = [
  { id: 'default', name: 'Ask', description: 'Asks before anything changes' },
  { id: 'acceptEdits', name: 'Accept edits', description: 'Files may change without a question' },
  { id: 'plan', name: 'Plan', description: 'Reads and plans, changes nothing' },
  { id: 'auto', name: 'Judged', description: 'A small model decides what may run, and asks in doubt' },
  { id: 'dontAsk', name: 'Never ask', description: 'What is not allowed is refused' },
];

function choicesOf(conversation: Conversation) {
  return { modes: modesOf(conversation), configOptions: configOptionsOf(conversation) };
}

function modesOf(conversation: Conversation): SessionModeState {
  const { mode } = conversation.info();
  const bypass = { id: 'bypassPermissions', name: 'Bypass', description: 'Asks nothing' };
  return { currentModeId: mode, availableModes: mode === 'bypassPermissions' ? [...MODES, bypass] : MODES };
}
