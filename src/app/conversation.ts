import { relative } from 'node:path';
import type { Conversation, ConversationInfo } from '../contracts/face/conversation.ts';
import { type Message, saidBlocks, type UserOrigin } from '../contracts/message.ts';
import { isReminder } from '../lib/text/is-reminder.ts';
import { listModels } from '../model/catalog.ts';
import { effortInstead, effortsOf } from '../model/efforts.ts';
import { budgetWarnings } from '../model/pricing.ts';
import { guessNext } from '../model/side/side-calls.ts';
import { cleanUp } from '../session/clean-up.ts';
import { ENDED_WITH_RUN } from '../session/records/ended-with-run.ts';
import { problemLines } from '../settings/problem-lines.ts';
import { screenSettings } from '../settings/screen-settings.ts';
import { bashStatement } from '../tools/bash/bash.ts';
import { createShellLines } from '../tools/bash/shell-lines.ts';
import { createFindFiles } from '../tools/find-files.ts';
import { proposeEdit } from '../tools/propose-edit.ts';
import { createLimitWait } from './loop/limit-wait.ts';
import { createMentions } from './loop/mentions.ts';
import { strayTools } from './loop/toolset.ts';
import { sessionPicker } from './session/session-picker.ts';
import type { StartedRun } from './session/start-run.ts';
import type { ConversationParts } from './slash/conversation-parts.ts';
import { hostControl } from './slash/host-control.ts';
import { listCommands, runCommand } from './slash/run-command.ts';

/** How long hooks may take when a conversation ends. */
const HOOKS_AT_END_MS = 1_200;

/** A conversation as every face sees it: its parts behind one object. */
export async function makeConversation(parts: ConversationParts, started: StartedRun): Promise<Conversation> {
  const { core, agent, session, permissions, mcp, hooks, loop, shells, actions } = parts;
  const { live, environment, repository } = core;
  const { home } = environment;
  const cwd = () => live.now().cwd;
  const warnings = await warningsOf(parts);
  const stored = sessionPicker(environment, core.cwd, agent.sessionId, repository.branch);
  return {
    agent,
    ready: mcp.ready,
    offered: mcp.offers,
    // In a folder that is only read, nothing runs before something is said.
    ...(core.trusted ? { begin: hooks.opening.begin } : {}),
    info: () => ({ ...infoOf(parts), warnings }),
    usage: core.meter.report,
    setModel: actions.setModel,
    setEffort: actions.setEffort,
    setThinkingTokens: (thinkingTokens) => live.change({ thinkingTokens }),
    setMode: actions.setMode,
    models: listModels,
    commands: () => listCommands(parts),
    runCommand: (line) => runCommand(line, parts),
    runShell: createShellLines({
      agent,
      bash: () => loop.toolset.all().find((tool) => tool.name === bashStatement.name),
      cwd,
      tell: core.bus.tell,
      newId: core.newId,
    }),
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
    woken: parts.wake.settled,
    waitForLimit: createLimitWait(core, agent),
    moveToBackground: shells.moveToBackground,
    killStopping: shells.killStopping,
    control: hostControl(parts),
    ...screenSettings({
      ouroHome: environment.ouroHome,
      settings: core.settings.now,
      variables: core.settings.variables,
      cwd,
      facts: () => statusFacts(parts),
    }),
    suggestNext: () => suggestNext(parts),
    draft: session.draft,
    history: session.history,
    close: (reason) => close(parts, started, reason),
  };
}

/** Everything ends in order: the work first, then what watches it, then the record. */
async function close(parts: ConversationParts, started: StartedRun, reason: string): Promise<void> {
  const { core, agent, session, hooks, loop, shells, mcp } = parts;
  parts.wake.close();
  const ending = backgroundOf(parts).map(({ title }) => title);
  agent.abort('shutdown');
  loop.subAgents.close();
  await agent.waitForIdle();
  if (ending.length > 0)
    await session.transcript.append({ type: 'system', subtype: ENDED_WITH_RUN, data: { titles: ending } });
  const limit = AbortSignal.timeout(HOOKS_AT_END_MS);
  await Promise.all([
    hooks.fire('SessionEnd', { reason }, limit),
    hooks.close(limit),
    hooks.opening.close(),
    shells.closeAll(),
    mcp.hub.close(),
  ]);
  parts.permissions.sandbox.close();
  await parts.checkpoints?.close();
  await session.transcript.close();
  // What cannot be deleted today can be tomorrow.
  await cleanUp(core.settings.now(), core.environment.ouroHome, core.now()).catch(() => undefined);
  started.close();
}

async function warningsOf({ core, session, permissions, mcp, hooks, loop }: ConversationParts) {
  return [
    ...core.environment.problems,
    ...session.warnings,
    ...budgetWarnings(core.options, core.model.infoOf(core.live.now().model)),
    ...[effortInstead(core.live.now().effort, core.model.infoOf(core.live.now().model))].filter(
      (text) => text !== undefined,
    ),
    ...permissions.warnings(),
    ...mcp.problems,
    ...(await hooks.deadGuards()),
    ...unreadLine(core.trusted ? [] : await loop.prompt.memory.unread(), core.cwd),
    ...strayTools(core.options, loop.toolset.builtIn()),
    ...problemLines(core.settings.loaded(), core.extensions.now()),
  ];
}

/** What an untrusted folder says to the model is not passed on: said once, with what to do. */
function unreadLine(files: readonly string[], cwd: string): readonly string[] {
  if (files.length === 0) return [];
  const names = files.slice(0, 5).map((file) => relative(cwd, file));
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  const text = `This folder is not trusted, so its instructions are not read (${names.join(', ')}${more}). Run "ouro trust" to trust it, or give --trust for one run.`;
  return [text];
}

function backgroundOf({ core, shells, loop }: ConversationParts): ReturnType<Conversation['background']> {
  const running = shells.list().filter(({ exit }) => exit === undefined);
  return [
    ...running.map(({ id, command, startedAtMs }) => ({ id, title: command, startedAtMs })),
    ...loop.subAgents.running(),
  ].map(({ id, title, startedAtMs }) => ({ id, title, elapsedMs: core.now() - startedAtMs }));
}

function infoOf(parts: ConversationParts): Omit<ConversationInfo, 'warnings'> {
  const { core, agent, session, loop } = parts;
  const { model, cwd, effort, mode, outputStyle, title, todos } = core.live.now();
  const { agents, skills } = core.extensions.now();
  return {
    sessionId: agent.sessionId,
    title,
    transcriptPath: session.transcript.path,
    cwd,
    folder: core.cwd,
    home: core.environment.home,
    gitBranch: core.repository.branchAtStart,
    model,
    modelInfo: core.model.infoOf(model),
    effort,
    efforts: effortsOf(core.model.infoOf(model)),
    mode,
    tools: loop.toolset.all().map((tool) => tool.name),
    mcpServers: parts.mcp.hub
      .states()
      .map(({ name, status, error }) => ({ name, status, ...(error === undefined ? {} : { error }) })),
    agents: agents.map(({ name }) => name),
    skills: skills.map(({ name }) => name),
    outputStyle,
    apiKeySource: core.model.keySource,
    version: core.environment.version,
    isDemo: core.model.provider === 'demo',
    trusted: core.trusted,
    contextTokens: core.meter.contextTokens(),
    defaultModel: core.model.model,
    earlierCostUsd: session.opened.stored.spentUsd ?? 0,
    todos,
    permissionDenials: parts.permissions.denials(),
  };
}

/** Nothing is asked, and nothing paid for, unless the person has switched it on. */
async function suggestNext({ core, agent }: ConversationParts): Promise<string | undefined> {
  if (core.settings.now().promptSuggestions !== true && core.options.promptSuggestions !== true) return undefined;
  const messages = agent.state().messages;
  const prompt = messages.findLast(
    ({ role, ...message }) => role === 'user' && 'origin' in message && isTyped(message.origin),
  );
  const answer = messages.findLast((message) => message.role === 'assistant' && wordsOf(message) !== '');
  if (prompt === undefined || answer === undefined) return undefined;
  return guessNext(core.model, { prompt: wordsOf(prompt), answer: wordsOf(answer) }, core.meter.add);
}

function isTyped(origin: UserOrigin): boolean {
  return origin === 'prompt' || origin === 'steer' || origin === 'follow_up';
}

function wordsOf(message: Message): string {
  return saidBlocks(message)
    .flatMap((block) => (block.type === 'text' && !isReminder(block.text) ? [block.text] : []))
    .join('\n');
}

/** What a script for the status line is told: the names scripts of Claude Code expect, and a few of our own. */
function statusFacts({ core, agent, session, permissions }: ConversationParts) {
  const { model, mode, cwd, title, effort, outputStyle } = core.live.now();
  const { costUsd, elapsedMs, apiMs, lines, total } = core.meter.report();
  const { label, contextWindow } = core.model.infoOf(model);
  const used = core.meter.contextTokens();
  const usedPercent = Math.min(100, Math.round((100 * used) / Math.max(1, contextWindow)));
  const [, ...addedDirs] = permissions.roots();
  return {
    hook_event_name: 'Status',
    session_id: agent.sessionId,
    ...(title === undefined ? {} : { session_name: title }),
    transcript_path: session.transcript.path ?? '',
    cwd,
    model: { id: model, display_name: label },
    workspace: { current_dir: cwd, project_dir: core.cwd, added_dirs: addedDirs },
    version: core.environment.version,
    output_style: { name: outputStyle },
    effort: { level: effort },
    cost: {
      total_cost_usd: costUsd + (session.opened.stored.spentUsd ?? 0),
      total_duration_ms: elapsedMs,
      total_api_duration_ms: apiMs,
      total_lines_added: lines.added,
      total_lines_removed: lines.removed,
    },
    context_window: {
      context_window_size: contextWindow,
      total_input_tokens: total.inputTokens + total.cacheReadTokens + total.cacheWriteTokens,
      total_output_tokens: total.outputTokens,
      used_percentage: usedPercent,
      remaining_percentage: 100 - usedPercent,
    },
    exceeds_200k_tokens: used > 200_000,
    permission_mode: mode,
    git_branch: core.repository.branchAtStart ?? '',
    context_tokens: used,
  };
}
