import {
  type AgentApp,
  agent,
  type ClientCapabilities,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk/unstable';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { configOptionsOf, modesOf, setConfigOption } from './config-options.ts';
import type { EditorPort } from './editor-port.ts';
import { createEditorSessions } from './editor-sessions.ts';

/** Our side of the Agent Client Protocol: an editor opens sessions and talks in them. */
export function createEditorAgent(port: EditorPort): AgentApp {
  /** What the editor can do, as it said first. */
  let abilities: ClientCapabilities = {};
  const sessions = createEditorSessions(port, () => abilities);

  return agent({ name: 'ouro' })
    .onRequest('initialize', ({ params }) => {
      abilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'ouro', title: 'ouro', version: port.version },
        authMethods: [AUTH_METHOD],
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, fork: {}, close: {}, additionalDirectories: {} },
        },
      };
    })
    .onRequest('authenticate', async ({ params }) => {
      if (params.methodId !== AUTH_METHOD.id)
        throw RequestError.invalidParams({ methodId: params.methodId }, `there is only ${AUTH_METHOD.id}`);
      const problem = await port.keyProblem();
      if (problem !== undefined) throw RequestError.authRequired(undefined, problem);
      return {};
    })
    .onRequest('session/new', async ({ params, client }) => {
      const session = await sessions.open(params, undefined, client);
      announceLater(() => sessions.announce(session, params.cwd));
      return { sessionId: session.conversation.agent.sessionId, ...(await choicesOf(session.conversation)) };
    })
    .onRequest('session/load', async ({ params, client }) => {
      const session = await sessions.open(params, { id: params.sessionId, fork: 'same' }, client);
      await session.replay();
      announceLater(() => sessions.announce(session, params.cwd));
      return choicesOf(session.conversation);
    })
    .onRequest('session/resume', async ({ params, client }) => {
      const session = await sessions.open(params, { id: params.sessionId, fork: 'same' }, client);
      announceLater(() => sessions.announce(session, params.cwd));
      return choicesOf(session.conversation);
    })
    .onRequest('session/fork', async ({ params, client }) => {
      const session = await sessions.open(params, { id: params.sessionId, fork: 'fork' }, client);
      announceLater(() => sessions.announce(session, params.cwd));
      return { sessionId: session.conversation.agent.sessionId, ...(await choicesOf(session.conversation)) };
    })
    .onRequest('session/delete', async ({ params }) => {
      await sessions.drop(params.sessionId);
      const problem = await port.remove(params.sessionId);
      if (problem !== undefined) throw RequestError.invalidParams({ sessionId: params.sessionId }, problem);
      return {};
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
      return { configOptions: await configOptionsOf(conversation) };
    })
    .onRequest('session/prompt', async ({ params }) => ({
      stopReason: await sessions.prompt(params.sessionId, params.prompt),
    }))
    .onNotification('session/cancel', ({ params }) => sessions.cancel(params.sessionId));
}

/** An editor knows a session only once it has the answer that names it. */
function announceLater(announce: () => Promise<void>): void {
  setTimeout(() => void announce().catch(() => undefined), 0);
}

/** ouro keeps keys itself: there is nothing an editor could do but look whether one is there. */
const AUTH_METHOD = {
  id: 'own-key',
  name: 'The key ouro has',
  description: 'Set ANTHROPIC_API_KEY for the agent, or start "ouro" in a terminal once and paste a key there.',
};

async function choicesOf(conversation: Conversation) {
  return { modes: modesOf(conversation), configOptions: await configOptionsOf(conversation) };
}
