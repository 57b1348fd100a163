import type { Hook } from '../contracts/hook.ts';
import { commandOf, type HookRunners } from './act.ts';
import { readMatcher } from './read-matcher.ts';
import { blocksWhenGone, isGuard, nameOf } from './run-hook.ts';

/** A sentence about each guard that could not start now, and each matcher nobody can read; looks only, runs nothing. */
export async function deadGuards(
  parts: { readonly hooks: () => readonly Hook[] } & Pick<HookRunners, 'missingScript'>,
): Promise<readonly string[]> {
  const guards = parts.hooks().filter((hook) => hook.command !== undefined && isGuard(hook));
  const missing = guards.map(async (hook) => {
    const script = await parts.missingScript(commandOf(hook), hook.env);
    if (script === undefined) return [];
    const refuses = hook.onFailure === 'block' || (blocksWhenGone(hook) && hook.onFailure !== 'continue');
    const then = refuses ? 'What it guards is refused' : 'It guards nothing';
    return [`${nameOf(hook)} cannot start: ${script} is not there. ${then} until that is mended.`];
  });
  const odd = parts.hooks().map(async (hook) => {
    const matches = await readMatcher(hook.matcher ?? '');
    if (!('problem' in matches)) return [];
    const then = isGuard(hook) ? 'it is asked at every step' : 'it never runs';
    return [
      `${nameOf(hook)} has the matcher "${hook.matcher}", which is no regular expression that can be used (${matches.problem}), so ${then}.`,
    ];
  });
  return (await Promise.all([...missing, ...odd])).flat();
}
