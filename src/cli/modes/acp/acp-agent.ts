import {
  type AgentApp,
  agent,
  type ClientCapabilities,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from '@agentclientprotocol/sdk/unstable';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { Effort } from '../../../contracts/model.ts';
import { type AcpAgentDeps, createAcpSessionRegistry } from './acp-session-registry.ts';
import { parsePromptParams } from './prompt-content.ts';

/** Creates the ouro side of the Agent Client Protocol: an editor opens sessions and prompts in them. */
export function createAcpAgent(deps: AcpAgentDeps): AgentApp {
  /** Capabilities of the editor, from its initialize request. */
  let capabilities: ClientCapabilities = {};
  const sessions = createAcpSessionRegistry(deps, () => capabilities);

  return (
    agent({ name: 'ouro' })
      .onRequest('initialize', ({ params }) => {
        capabilities = params.clientCapabilities ?? {};
        return {
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: 'ouro', title: 'ouro', version: deps.version },
          authMethods: capabilities.auth?.terminal === true ? [TERMINAL_AUTH_METHOD, AUTH_METHOD] : [AUTH_METHOD],
          _meta: { steering: { supported: true } },
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
          throw RequestError.invalidParams({ methodId: params.methodId }, `the only method is ${AUTH_METHOD.id}`);
        const problem = await deps.findKeyProblem();
        if (problem !== undefined) throw RequestError.authRequired(undefined, problem);
        return {};
      })
      .onRequest('session/new', async ({ params, client }) => {
        const session = await sessions.open(params, undefined, client);
        announceLater(() => sessions.announce(session, params.cwd));
        return { sessionId: session.conversation.agent.sessionId, ...(await describeOptions(session.conversation)) };
      })
      .onRequest('session/load', async ({ params, client }) => {
        const session = await sessions.open(params, { id: params.sessionId, fork: 'never' }, client);
        await session.replay();
        announceLater(() => sessions.announce(session, params.cwd));
        return describeOptions(session.conversation);
      })
      .onRequest('session/resume', async ({ params, client }) => {
        const session = await sessions.open(params, { id: params.sessionId, fork: 'never' }, client);
        announceLater(() => sessions.announce(session, params.cwd));
        return describeOptions(session.conversation);
      })
      .onRequest('session/fork', async ({ params, client }) => {
        const session = await sessions.open(params, { id: params.sessionId, fork: 'fork' }, client);
        announceLater(() => sessions.announce(session, params.cwd));
        return { sessionId: session.conversation.agent.sessionId, ...(await describeOptions(session.conversation)) };
      })
      .onRequest('session/delete', async ({ params }) => {
        await sessions.drop(params.sessionId);
        const problem = await deps.deleteSession(params.sessionId);
        if (problem !== undefined) throw RequestError.invalidParams({ sessionId: params.sessionId }, problem);
        return {};
      })
      .onRequest('session/list', async ({ params }) => {
        const stored = await deps.listSessions(params.cwd ?? undefined);
        return { sessions: stored.map(({ id, title, cwd, at }) => ({ sessionId: id, title, cwd, updatedAt: at })) };
      })
      .onRequest('session/close', ({ params }) => sessions.close(params.sessionId))
      .onRequest('session/set_mode', ({ params }) => {
        const outcome = sessions.known(params.sessionId).conversation.setMode(params.modeId);
        if (!outcome.ok) throw RequestError.invalidParams({ modeId: params.modeId }, outcome.problem);
      })
      .onRequest('session/set_config_option', async ({ params }) => {
        const { conversation } = sessions.known(params.sessionId);
        const why = await setAcpConfigOption(conversation, params.configId, String(params.value));
        if (why !== undefined) throw RequestError.invalidParams({ configId: params.configId }, why);
        return { configOptions: await listAcpConfigOptions(conversation) };
      })
      .onRequest('session/prompt', async ({ params }) => ({
        stopReason: await sessions.prompt(params.sessionId, params.prompt),
      }))
      // An extension that agent-shell uses: the editor keeps a prompt that no running one can take.
      .onRequest('_session/steering', parsePromptParams, async ({ params }) => ({
        outcome: (await sessions.known(params.sessionId).steer(params.prompt)) ? 'injected' : 'promptRequired',
      }))
      .onNotification('session/cancel', ({ params }) => sessions.cancel(params.sessionId))
  );
}

/** Runs after the response to the current request: the editor learns the session id from it. */
function announceLater(announce: () => Promise<void>): void {
  setTimeout(() => void announce().catch(() => undefined), 0);
}

/** ouro stores its keys itself, so authentication only checks that one exists. */
const AUTH_METHOD = {
  id: 'own-key',
  name: 'Key configured in ouro',
  description: 'Set ANTHROPIC_API_KEY for the agent, or start "ouro" in a terminal once and paste a key there.',
};

/** Editors that can run the agent in a terminal offer this as a button; `args` are appended to `ouro acp`. */
const TERMINAL_AUTH_METHOD = {
  type: 'terminal' as const,
  id: 'login',
  name: 'Enter an API key',
  description: 'Opens a terminal that asks for your Anthropic API key and stores it.',
  args: ['--login'],
};

async function describeOptions(conversation: Conversation) {
  return { modes: listAcpPermissionModes(conversation), configOptions: await listAcpConfigOptions(conversation) };
}

const EFFORTS: readonly { readonly value: Effort; readonly name: string }[] = [
  { value: 'auto', name: 'Auto' },
  { value: 'off', name: 'Off' },
  { value: 'low', name: 'Low' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High' },
  { value: 'xhigh', name: 'Very high' },
  { value: 'max', name: 'Max' },
];

const MODES = [
  { id: 'default', name: 'Ask', description: 'Asks before any change' },
  { id: 'acceptEdits', name: 'Accept edits', description: 'Edits files without asking' },
  { id: 'plan', name: 'Plan', description: 'Reads and plans, changes nothing' },
  { id: 'auto', name: 'Auto', description: 'A small model decides what may run, and asks when in doubt' },
  { id: 'dontAsk', name: "Don't ask", description: 'Denies everything that is not allowed by a rule' },
];

/** Returns the selectable permission modes; bypass is offered only if it was chosen at the start. */
function listAcpPermissionModes(conversation: Conversation): SessionModeState {
  const { mode } = conversation.info();
  const bypass = { id: 'bypassPermissions', name: 'Bypass', description: 'Skips all permission prompts' };
  return { currentModeId: mode, availableModes: mode === 'bypassPermissions' ? [...MODES, bypass] : MODES };
}

/** Returns the options an editor shows next to the prompt: model, thinking effort and permission mode. */
async function listAcpConfigOptions(conversation: Conversation): Promise<SessionConfigOption[]> {
  const { model, effort, efforts } = conversation.info();
  const listed = (await conversation.models()).map(({ id, label }) => ({ value: id, name: label }));
  // The current model may be missing from the list.
  const models = listed.some(({ value }) => value === model) ? listed : [{ value: model, name: model }, ...listed];
  const { currentModeId, availableModes } = listAcpPermissionModes(conversation);
  const modes = availableModes.map(({ id, name, description }) => ({
    value: id,
    name,
    description: description ?? null,
  }));
  return [
    { type: 'select', id: 'model', name: 'Model', category: 'model', currentValue: model, options: models },
    {
      type: 'select',
      id: 'effort',
      name: 'Thinking',
      category: 'thought_level',
      currentValue: effort,
      options: EFFORTS.filter(({ value }) => value === effort || efforts.includes(value)),
    },
    { type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue: currentModeId, options: modes },
  ];
}

/** Sets one of these options; returns the reason of a failure. */
async function setAcpConfigOption(
  conversation: Conversation,
  option: string,
  value: string,
): Promise<string | undefined> {
  if (option === 'model') {
    const outcome = await conversation.setModel(value);
    return outcome.ok ? undefined : outcome.problem;
  }
  if (option === 'mode') {
    const outcome = conversation.setMode(value);
    return outcome.ok ? undefined : outcome.problem;
  }
  const effort = EFFORTS.find((candidate) => candidate.value === value)?.value;
  if (option !== 'effort' || effort === undefined) return `There is no option ${option} with the value ${value}.`;
  const outcome = conversation.setEffort(effort);
  return outcome.ok ? undefined : outcome.problem;
}
