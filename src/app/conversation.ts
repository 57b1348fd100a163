import type { Conversation } from '../contracts/face/conversation.ts';
import { recently } from '../lib/recently.ts';
import { cleanUp } from '../session/clean-up.ts';
import { ENDED_WITH_RUN } from '../session/records/ended-with-run.ts';
import { screenSettings } from '../settings/screen-settings.ts';
import { bashStatement } from '../tools/bash/bash.ts';
import { createShellLines } from '../tools/bash/shell-lines.ts';
import { createFindFiles } from '../tools/find-files.ts';
import { proposeEdit } from '../tools/propose-edit.ts';
import { infoOf, instructionsOf, warningsOf } from './conversation-info.ts';
import { createLimitWait } from './loop/limit-wait.ts';
import { createMentions } from './loop/mentions.ts';
import { suggestNext } from './loop/suggest-next.ts';
import { createPast } from './session/past.ts';
import { sessionPicker } from './session/session-picker.ts';
import type { StartedRun } from './session/start-run.ts';
import type { ConversationParts } from './slash/conversation-parts.ts';
import { hostControl } from './slash/host-control.ts';
import { loginNow } from './slash/key-commands.ts';
import { completeArgument, listCommands, runCommand } from './slash/run-command.ts';
import { statusFacts } from './status-facts.ts';

/** How long hooks may take when a conversation ends. */
const HOOKS_AT_END_MS = 1_200;

/** A conversation as every face sees it: its parts behind one object. */
export async function makeConversation(parts: ConversationParts, started: StartedRun): Promise<Conversation> {
  const { core, agent, session, permissions, mcp, hooks, loop, shells, actions } = parts;
  const { live, environment, repository } = core;
  const { home } = environment;
  const cwd = () => live.now().cwd;
  const [warnings, instructions] = await Promise.all([warningsOf(parts), instructionsOf(parts)]);
  const stored = sessionPicker(environment, core.cwd, agent.sessionId, repository.branch);
  const conversation: Conversation = {
    agent,
    ready: mcp.ready,
    offered: mcp.offers,
    // In a folder that is only read, nothing runs before something is said.
    ...(core.trusted ? { begin: hooks.opening.begin } : {}),
    prepare: hooks.opening.prepare,
    info: () => ({ ...infoOf(parts), warnings, instructions }),
    usage: core.meter.report,
    setModel: actions.setModel,
    setEffort: actions.setEffort,
    setThinkingTokens: (thinkingTokens) => live.change({ thinkingTokens }),
    setMode: actions.setMode,
    models: recently(async () => (await core.model.offered()).models.map(({ info }) => info), core.now),
    commands: () => listCommands(parts),
    runCommand: (line) => runCommand(line, parts),
    runShell: createShellLines({
      agent,
      bash: () => loop.toolset.all().find((tool) => tool.name === bashStatement.name),
      cwd,
      tell: core.bus.tell,
      newId: core.newId,
    }),
    completeArgument: (line) => completeArgument(line, parts),
    findFiles: createFindFiles(loop.locator, core.cwd, core.now),
    ...createMentions(core, { permissions, mcp }),
    proposal: (facts) => proposeEdit(facts, { cwd: cwd(), home }),
    contextUsage: actions.contextUsage,
    sessions: () => stored.list('folder'),
    storedSessions: stored,
    checkpoints: actions.checkpoints,
    rewind: actions.rewind,
    rename: actions.rename,
    background: () => backgroundOf(parts),
    subAgentMessages: loop.subAgents.messages,
    woken: parts.wake.settled,
    waitForLimit: createLimitWait(core, agent),
    moveToBackground: (callId) => loop.subAgents.moveToBackground(callId) || shells.moveToBackground(callId),
    killStopping: shells.killStopping,
    control: {
      ...hostControl(parts),
      serve: async (place) => (await import('../mcp/serve/serve.ts')).serve(conversation, place),
    },
    login: (place, key) => loginNow(parts.core, place, key),
    ...screenSettings({
      ouroHome: environment.ouroHome,
      settings: core.settings.now,
      variables: core.settings.variables,
      cwd,
      facts: () => statusFacts(parts),
    }),
    suggestNext: () => suggestNext(core, agent),
    past: createPast({ agent, session, tools: loop.toolset.all }),
    draft: session.draft,
    history: session.history,
    close: (reason) => close(parts, started, reason),
  };
  return conversation;
}

/** Everything ends in order: the work first, then what watches it, then the record. */
async function close(parts: ConversationParts, started: StartedRun, reason: string): Promise<void> {
  const { core, agent, session, hooks, loop, shells, mcp } = parts;
  parts.wake.close();
  const agents = new Set(loop.subAgents.running().map(({ id }) => id));
  // By its id a sub-agent can be gone on with.
  const ending = backgroundOf(parts).map(({ id, title }) => (agents.has(id) ? `${title} (${id})` : title));
  agent.abort('shutdown');
  await Promise.all([agent.waitForIdle(), loop.subAgents.close()]);
  if (ending.length > 0)
    await session.transcript.append({ type: 'system', subtype: ENDED_WITH_RUN, data: { titles: ending } });
  const limit = AbortSignal.timeout(HOOKS_AT_END_MS);
  await Promise.all([
    hooks.fire('SessionEnd', { reason }, limit),
    hooks.close(limit),
    hooks.opening.close(),
    shells.closeAll(),
    mcp.hub.close(),
    parts.languages.close(),
  ]);
  parts.permissions.sandbox.close();
  await parts.checkpoints?.close();
  await session.transcript.close();
  // What cannot be deleted today can be tomorrow.
  await cleanUp(core.settings.now(), core.environment.ouroHome, core.now()).catch(() => undefined);
  started.close();
}

function backgroundOf({ core, shells, loop }: ConversationParts): ReturnType<Conversation['background']> {
  const running = shells.list().filter(({ exit }) => exit === undefined);
  return [
    ...running.map(({ id, command, startedAtMs }) => ({ id, title: command, startedAtMs })),
    ...loop.subAgents.running(),
  ].map(({ id, title, startedAtMs }) => ({ id, title, elapsedMs: core.now() - startedAtMs }));
}
