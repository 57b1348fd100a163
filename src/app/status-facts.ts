import type { ConversationParts } from './slash/conversation-parts.ts';

type Needs = Pick<ConversationParts, 'core' | 'agent' | 'session' | 'permissions'>;

/** What a script for the status line is told: the names scripts of Claude Code expect, and a few of our own. */
export function statusFacts({ core, agent, session, permissions }: Needs) {
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
    transcript_path: session.published.path,
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
