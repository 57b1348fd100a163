import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { Live } from '../../contracts/live.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { OpenedSession } from './open-session.ts';

/** How a run begins: what was asked for now, else how its session was left, else what settings say. */
export function firstLive(
  { model, mode, cwd }: Pick<Live, 'model' | 'mode' | 'cwd'>,
  options: Pick<RunOptions, 'effort' | 'maxThinkingTokens'>,
  settings: Pick<Settings, 'effort' | 'outputStyle'>,
  { stored }: Pick<OpenedSession, 'stored'>,
): Live {
  return {
    model,
    effort: options.effort ?? stored.effort ?? settings.effort ?? 'auto',
    thinkingTokens: options.maxThinkingTokens ?? stored.thinkingTokens,
    mode,
    cwd: stored.cwd ?? cwd,
    todos: stored.todos ?? [],
    title: stored.title?.title,
    outputStyle: stored.outputStyle ?? settings.outputStyle ?? 'default',
    plan: stored.plan,
    grants: stored.grants ?? [],
    directories: stored.directories ?? [],
  };
}
