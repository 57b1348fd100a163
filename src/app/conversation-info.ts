import { relative } from 'node:path';
import type { ConversationInfo } from '../contracts/frontend/conversation.ts';
import { omitUndefined } from '../lib/json.ts';
import { explainReplacedEffort, listEfforts } from '../model/efforts.ts';
import { explainUnpricedBudget } from '../model/pricing.ts';
import { NO_WORK_DONE } from '../session/persisted-state.ts';
import { announceForeignFiles } from '../settings/import-offer.ts';
import { formatConfigProblems, isSettingsSourceEnabled } from '../settings/load-settings.ts';
import { findUnknownTools } from '../tools/select-tools.ts';
import type { ConversationParts } from './conversation-parts.ts';
import type { Core } from './core.ts';

/** Returns the facts about a conversation at this moment. */
export function getConversationInfo(parts: ConversationParts): Omit<ConversationInfo, 'warnings' | 'instructions'> {
  const { core, agent, session, loop } = parts;
  const { model, cwd, effort, mode, outputStyle, title, todos } = core.live.current();
  const { agents, skills, plugins } = core.extensions.current();
  return {
    sessionId: agent.sessionId,
    title,
    transcriptPath: session.transcript.path,
    cwd,
    folder: core.cwd,
    home: core.environment.home,
    gitBranch: core.repository.initialBranch,
    ...(isAutoModeEnabled(core) ? { hasAutoMode: true } : {}),
    ...omitUndefined({ sandbox: parts.permissions.sandbox.getApproval() }),
    model,
    modelInfo: core.model.infoOf(model),
    effort,
    efforts: listEfforts(core.model.infoOf(model)),
    mode,
    tools: loop.toolset.listEnabled().map((tool) => tool.name),
    mcpServers: parts.mcp.hub
      .listStates()
      .map(({ name, status, error }) => ({ name, status, ...(error === undefined ? {} : { error }) })),
    agents: agents.map(({ name }) => name),
    skills: skills.map(({ name }) => name),
    plugins: plugins.map(({ name, root }) => ({ name, path: root })),
    outputStyle,
    apiKeySource: core.model.keySource,
    version: core.environment.version,
    isDemo: core.model.provider === 'demo',
    trusted: core.trusted,
    contextTokens: core.meter.getContextTokens(),
    defaultModel: core.model.model,
    earlierCostUsd: session.opened.stored.spentUsd ?? 0,
    earlierWork: session.opened.stored.worked ?? NO_WORK_DONE,
    todos,
    permissionDenials: parts.permissions.listDenials(),
  };
}

/** Returns whether the user has enabled auto mode. Projects cannot set either of these settings. */
function isAutoModeEnabled({ options, settings }: Core): boolean {
  const { autoMode, permissions } = settings.current();
  return autoMode !== undefined || (options.permissionMode ?? permissions?.defaultMode) === 'auto';
}

/** Lists the instruction files that are in effect, relative to the folder of the conversation. */
export async function listInstructionFiles({ core, loop }: ConversationParts): Promise<readonly string[]> {
  return (await loop.prompt.memory.listFound()).map((path) => relative(core.cwd, path));
}

/** Collects the warnings that are shown before the first prompt. */
export async function collectWarnings({ core, session, permissions, mcp, hooks, loop }: ConversationParts) {
  return [
    ...core.environment.problems,
    ...session.warnings,
    ...explainUnpricedBudget(core.options, core.model.infoOf(core.live.current().model)),
    ...[explainReplacedEffort(core.live.current().effort, core.model.infoOf(core.live.current().model))].filter(
      (text) => text !== undefined,
    ),
    ...permissions.listRuleWarnings(),
    ...mcp.problems,
    ...(await hooks.describeBroken()),
    ...describeUnreadInstructions(core.trusted ? [] : await loop.prompt.memory.listUnread(), core),
    ...findUnknownTools(core.options, loop.toolset.listBuiltIn()),
    ...formatConfigProblems(core.settings.loaded(), core.extensions.current()),
    ...(core.options.frontend === 'screen' && !session.opened.isResumed
      ? await announceForeignFiles(core.environment, core.cwd, core.options.loadImports)
      : []),
  ];
}

/** Returns a warning that the instructions of an untrusted folder are not read. */
function describeUnreadInstructions(files: readonly string[], { cwd, options }: Core): readonly string[] {
  if (files.length === 0) return [];
  const names = files.slice(0, 5).map((file) => relative(cwd, file));
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  const isProjectIncluded = isSettingsSourceEnabled(options.settingSources, 'project');
  const why = isProjectIncluded ? '' : ' and --setting-sources excludes project settings,';
  const help = isProjectIncluded ? ' Run "ouro trust" to trust it, or pass --trust for one run.' : '';
  return [`This folder is not trusted,${why} so its instructions are not read (${names.join(', ')}${more}).${help}`];
}

type StatusParts = Pick<ConversationParts, 'core' | 'agent' | 'session' | 'permissions'>;

/** Collects the input of status line scripts: the fields of Claude Code, and some of ouro. */
export function collectStatusLineInput({ core, agent, session, permissions }: StatusParts) {
  const { model, mode, cwd, title, effort, outputStyle } = core.live.current();
  const { costUsd, isComplete, elapsedMs, apiMs, lines, total } = core.meter.createReport();
  const { label, contextWindow } = core.model.infoOf(model);
  const used = core.meter.getContextTokens();
  const lastUsage = core.meter.getLastUsage();
  const usedPercent = Math.min(100, Math.round((100 * used) / Math.max(1, contextWindow)));
  const [, ...addedDirs] = permissions.getRoots();
  return {
    hook_event_name: 'Status',
    session_id: agent.sessionId,
    ...(title === undefined ? {} : { session_name: title }),
    transcript_path: session.publishedTranscript.path,
    cwd,
    model: { id: model, display_name: label },
    workspace: { current_dir: cwd, project_dir: core.cwd, added_dirs: addedDirs },
    version: core.environment.version,
    output_style: { name: outputStyle },
    effort: { level: effort },
    cost: {
      total_cost_usd: costUsd + (session.opened.stored.spentUsd ?? 0),
      ...(isComplete ? {} : { is_incomplete: true }),
      total_duration_ms: elapsedMs,
      total_api_duration_ms: apiMs,
      total_lines_added: lines.added,
      total_lines_removed: lines.removed,
    },
    context_window: {
      context_window_size: contextWindow,
      total_input_tokens: total.inputTokens + total.cacheReadTokens + total.cacheWriteTokens,
      total_output_tokens: total.outputTokens,
      current_usage:
        lastUsage === undefined
          ? null
          : {
              input_tokens: lastUsage.inputTokens,
              output_tokens: lastUsage.outputTokens,
              cache_creation_input_tokens: lastUsage.cacheWriteTokens,
              cache_read_input_tokens: lastUsage.cacheReadTokens,
            },
      used_percentage: usedPercent,
      remaining_percentage: 100 - usedPercent,
    },
    exceeds_200k_tokens: used > 200_000,
    permission_mode: mode,
    git_branch: core.repository.initialBranch ?? '',
    context_tokens: used,
  };
}
