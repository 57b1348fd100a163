import { relative } from 'node:path';
import type { ConversationInfo } from '../contracts/face/conversation.ts';
import { effortInstead, effortsOf } from '../model/efforts.ts';
import { budgetWarnings } from '../model/pricing.ts';
import { NO_WORK } from '../session/session-state.ts';
import { countsSource } from '../settings/counts-source.ts';
import { problemLines } from '../settings/problem-lines.ts';
import type { Core } from './core.ts';
import { strayTools } from './loop/toolset.ts';
import type { ConversationParts } from './slash/conversation-parts.ts';

/** What a conversation says of itself as it stands now. */
export function infoOf(parts: ConversationParts): Omit<ConversationInfo, 'warnings' | 'instructions'> {
  const { core, agent, session, loop } = parts;
  const { model, cwd, effort, mode, outputStyle, title, todos } = core.live.now();
  const { agents, skills, plugins } = core.extensions.now();
  return {
    sessionId: agent.sessionId,
    title,
    transcriptPath: session.transcript.path,
    cwd,
    folder: core.cwd,
    home: core.environment.home,
    gitBranch: core.repository.branchAtStart,
    ...(offersAuto(core) ? { offersAuto: true } : {}),
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
    plugins: plugins.map(({ name, root }) => ({ name, path: root })),
    outputStyle,
    apiKeySource: core.model.keySource,
    version: core.environment.version,
    isDemo: core.model.provider === 'demo',
    trusted: core.trusted,
    contextTokens: core.meter.contextTokens(),
    defaultModel: core.model.model,
    earlierCostUsd: session.opened.stored.spentUsd ?? 0,
    earlierWork: session.opened.stored.worked ?? NO_WORK,
    todos,
    permissionDenials: parts.permissions.denials(),
  };
}

/** `autoMode` and such a default come from its person alone, never from a project. */
function offersAuto({ options, settings }: Core): boolean {
  const { autoMode, permissions } = settings.now();
  return autoMode !== undefined || (options.permissionMode ?? permissions?.defaultMode) === 'auto';
}

/** The files of a project that say how to work in it, where they count. */
export async function instructionsOf({ core, loop }: ConversationParts): Promise<readonly string[]> {
  return (await loop.prompt.memory.found()).map((path) => relative(core.cwd, path));
}

/** What is to be said before the first prompt, found when the conversation was made. */
export async function warningsOf({ core, session, permissions, mcp, hooks, loop }: ConversationParts) {
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
    ...unreadLine(core.trusted ? [] : await loop.prompt.memory.unread(), core),
    ...strayTools(core.options, loop.toolset.builtIn()),
    ...problemLines(core.settings.loaded(), core.extensions.now()),
  ];
}

/** What an untrusted folder says to the model is not passed on: said once, with what to do. */
function unreadLine(files: readonly string[], { cwd, options }: Pick<Core, 'cwd' | 'options'>): readonly string[] {
  if (files.length === 0) return [];
  const names = files.slice(0, 5).map((file) => relative(cwd, file));
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  const counts = countsSource(options.settingSources, 'project');
  const why = counts ? '' : ' and --setting-sources leaves out what projects bring,';
  const help = counts ? ' Run "ouro trust" to trust it, or give --trust for one run.' : '';
  return [`This folder is not trusted,${why} so its instructions are not read (${names.join(', ')}${more}).${help}`];
}
