import type { Conversation } from '../contracts/frontend/conversation.ts';
import { memoizeForMinute } from '../lib/memoize.ts';
import { TASKS_ENDED_WITH_RUN } from '../session/resume/earlier-run.ts';
import type { RegisteredRun } from '../session/run-cleanup-log.ts';
import { pruneExpiredSessions } from '../session/store/prune-sessions.ts';
import { createFrontendSettings } from '../settings/frontend-settings.ts';
import { bashTraits } from '../tools/bash/bash.ts';
import { createUserCommandRunner } from '../tools/bash/user-commands.ts';
import { proposeEdit } from '../tools/edit/preview-edit.ts';
import { createFileFinder } from '../tools/search/file-finder.ts';
import { suggestPromptIfEnabled } from '../tools/side-requests.ts';
import {
  completeSlashCommandArgument,
  executeSlashCommand,
  isKnownCommand,
  listOfferedCommands,
} from './commands/execute-slash-command.ts';
import { saveAndUseProviderKey } from './commands/model-commands.ts';
import {
  collectStatusLineInput,
  collectWarnings,
  getConversationInfo,
  listInstructionFiles,
} from './conversation-info.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { createHostControl } from './host-control.ts';
import { createMentionExpander } from './loop/mention-expander.ts';
import { createUsageLimitWait } from './loop/usage-limit-wait.ts';
import { createPastTurns } from './session/past-turns.ts';
import { createStoredSessionsPort } from './session/stored-sessions.ts';

/** The time limit for hooks when a conversation ends. */
const END_HOOKS_TIMEOUT_MS = 1_200;

/** Creates the interface of a conversation for its frontend. */
export async function assembleConversation(parts: ConversationParts, started: RegisteredRun): Promise<Conversation> {
  const { core, agent, session, permissions, mcp, hooks, loop, shells, actions } = parts;
  const { live, environment, repository } = core;
  const { home } = environment;
  const cwd = () => live.current().cwd;
  const [warnings, instructions] = await Promise.all([collectWarnings(parts), listInstructionFiles(parts)]);
  const stored = createStoredSessionsPort(environment, core.cwd, agent.sessionId, repository.readBranch);
  const conversation: Conversation = {
    agent,
    waitUntilReady: mcp.whenReady,
    waitForCommand: mcp.whenCommandListed,
    // In an untrusted folder no hook runs before the first prompt.
    ...(core.trusted ? { runStartHooks: hooks.sessionStart.start } : {}),
    runSetupHooks: hooks.sessionStart.runSetup,
    info: () => ({ ...getConversationInfo(parts), warnings, instructions }),
    usage: core.meter.createReport,
    setModel: actions.setModel,
    setEffort: actions.setEffort,
    setThinkingTokens: (thinkingTokens) => live.update({ thinkingTokens }),
    setMode: actions.setMode,
    models: memoizeForMinute(async () => (await core.model.listAvailable()).models.map(({ info }) => info), core.now),
    commands: () => listOfferedCommands(parts),
    isKnownCommand: (name) => isKnownCommand(name, parts),
    runCommand: (line) => executeSlashCommand(line, parts),
    runShell: createUserCommandRunner({
      agent,
      bash: () => loop.toolset.listEnabled().find((tool) => tool.name === bashTraits.name),
      cwd,
      emit: core.bus.emit,
      newId: core.newId,
    }),
    completeArgument: (line) => completeSlashCommandArgument(line, parts),
    findFiles: createFileFinder(loop.locator, core.cwd, core.now),
    ...createMentionExpander(core, { permissions, mcp }),
    proposeEdit: (facts) => proposeEdit(facts, { cwd: cwd(), home }),
    contextUsage: actions.contextUsage,
    sessions: () => stored.list('folder'),
    storedSessions: stored,
    checkpoints: actions.listCheckpoints,
    rewind: actions.rewind,
    rename: actions.rename,
    background: () => listBackgroundWork(parts),
    subAgentMessages: loop.subAgents.messages,
    waitForAutoContinue: parts.autoContinue.waitUntilSettled,
    waitForLimit: createUsageLimitWait(core, agent),
    moveToBackground: (callId) => loop.subAgents.moveToBackground(callId) || shells.moveToBackground(callId),
    killStoppingCommands: shells.killStopping,
    control: {
      ...createHostControl(parts),
      serve: async (transport) =>
        (await import('../mcp/server/serve-conversation.ts')).serveConversationOverMcp(conversation, transport),
    },
    login: (provider, key) => saveAndUseProviderKey(parts.core, provider, key),
    ...createFrontendSettings({
      ouroHome: environment.ouroHome,
      plugins: () => core.extensions.current().plugins,
      settings: core.settings.current,
      variables: core.settings.variables,
      cwd,
      checkProgram: parts.checkProgram,
      facts: () => collectStatusLineInput(parts),
    }),
    suggestNextPrompt: () => suggestPromptIfEnabled(core, agent),
    pastTurns: createPastTurns({ agent, session, tools: loop.toolset.listEnabled }),
    editor: parts.editor.port,
    draft: session.draft,
    history: session.history,
    close: (reason) => close(parts, started, reason),
  };
  return conversation;
}

/** Shuts down in order: the work first, then its observers, then the transcript. */
async function close(parts: ConversationParts, started: RegisteredRun, reason: string): Promise<void> {
  const { core, agent, session, hooks, loop, shells, mcp } = parts;
  parts.autoContinue.close();
  const agents = new Set(loop.subAgents.listRunning().map(({ id }) => id));
  // The id of a sub-agent allows to resume it.
  const ending = listBackgroundWork(parts).map(({ id, title }) => (agents.has(id) ? `${title} (${id})` : title));
  agent.abort('shutdown');
  await Promise.all([agent.waitForIdle(), loop.subAgents.close()]);
  if (ending.length > 0)
    await session.transcript.append({ type: 'system', subtype: TASKS_ENDED_WITH_RUN, data: { titles: ending } });
  const timeout = AbortSignal.timeout(END_HOOKS_TIMEOUT_MS);
  await Promise.all([
    hooks.fire('SessionEnd', { reason }, timeout),
    hooks.close(timeout),
    hooks.sessionStart.close(),
    shells.stopAll(),
    mcp.hub.close(),
    parts.languages.close(),
    parts.editor.close(),
  ]);
  parts.permissions.sandbox.close();
  await parts.checkpoints?.close();
  // The work above has emitted its last events.
  await agent.waitForIdle();
  await session.transcript.close();
  // A failed clean-up is repeated by the next run.
  await pruneExpiredSessions(core.settings.current(), core.environment.ouroHome, core.now()).catch(() => undefined);
  started.close(reason.startsWith('sig') ? 'all' : 'recorded');
}

function listBackgroundWork({ core, shells, loop }: ConversationParts): ReturnType<Conversation['background']> {
  // A monitor of a plugin ends with every session, so nobody need know.
  const running = shells.list().filter(({ exit, monitor }) => exit === undefined && monitor === undefined);
  return [
    ...running.map(({ id, command, startedAtMs }) => ({ id, title: command, startedAtMs })),
    ...loop.subAgents.listRunning(),
  ].map(({ id, title, startedAtMs }) => ({ id, title, elapsedMs: core.now() - startedAtMs }));
}
