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
  const sessions = new Map<string, EditorSession>();

  async function open(wanted: Wanted, session: RunOptions['session'], client: AgentContext): Promise<EditorSession> {
    if (!isAbsolute(wanted.cwd)) throw RequestError.invalidParams({ cwd: wanted.cwd }, 'cwd must be an absolute path');
    const composed = await port.open({
      ...port.options,
      cwd: wanted.cwd,
      session,
      addDirs: [...port.options.addDirs, ...(wanted.additionalDirectories ?? [])],
      mcpConfig: [...port.options.mcpConfig, ...mcpConfigOf(wanted.mcpServers ?? [])],
    });
    if (!composed.ok) throw new RequestError(-32603, composed.problem);
    const opened = createEditorSession(composed.conversation, client);
    sessions.set(composed.conversation.agent.sessionId, opened);
    return opened;
  }

  function known(sessionId: string): EditorSession {
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.invalidParams({ sessionId }, 'there is no such session');
    return session;
  }

  const resume = (sessionId: string) => ({ kind: 'resume' as const, wanted: sessionId, fork: 'same' as const });

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
      const session = await open(params, { kind: 'new' }, client);
      announceLater(session);
      return { sessionId: session.conversation.agent.sessionId, ...choicesOf(session.conversation) };
    })
    .onRequest('session/list', async ({ params }) => ({
      sessions: (await port.list(params.cwd ?? undefined)).map(({ id, title, cwd, at }) => ({
        sessionId: id,
        title,
        cwd,
        updatedAt: at,
      })),
    }))
    .onRequest('session/load', async ({ params, client }) => {
      const session = await open(params, resume(params.sessionId), client);
      await session.replay();
      announceLater(session);
      return choicesOf(session.conversation);
    })
    .onRequest('session/resume', async ({ params, client }) => {
      const session = await open(params, resume(params.sessionId), client);
      announceLater(session);
      return choicesOf(session.conversation);
    })
    .onRequest('session/close', async ({ params }) => {
      const session = known(params.sessionId);
      sessions.delete(params.sessionId);
      await session.conversation.close('closed');
    })
    .onRequest('session/set_mode', ({ params }) => {
      const outcome = known(params.sessionId).conversation.setMode(params.modeId);
      if (!outcome.ok) throw RequestError.invalidParams({ modeId: params.modeId }, outcome.why);
    })
    .onRequest('session/set_config_option', async ({ params }) => {
      const { conversation } = known(params.sessionId);
      const why = await setConfigOption(conversation, params.configId, String(params.value));
      if (why !== undefined) throw RequestError.invalidParams({ configId: params.configId }, why);
      return { configOptions: configOptionsOf(conversation) };
    })
    .onRequest('session/prompt', async ({ params }) => ({
      stopReason: await known(params.sessionId).prompt(params.prompt),
    }))
    .onNotification('session/cancel', ({ params }) => {
      sessions.get(params.sessionId)?.cancel();
    });
}

/** An editor knows a session only once it has the answer that names it. */
function announceLater(session: EditorSession): void {
  setTimeout(() => void session.announceCommands().catch(() => undefined), 0);
}

const MODES = [
  { id: 'default', name: 'Ask', description: 'Asks before anything changes' },
  { id: 'acceptEdits', name: 'Accept edits', description: 'Files may change without a question' },
  { id: 'plan', name: 'Plan', description: 'Reads and plans, changes nothing' },
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
