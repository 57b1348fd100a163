import { PRESETS } from '../presets.ts';
import { discoverLocalServers } from './discovery.ts';
import { NO_KEY } from './key-problem.ts';
import type { Providers } from './model-name.ts';

/**
 * Why there is no model. Where only a key of Anthropic's is missing, keys of other places and servers that answer on
 * this machine are named, ready to be used.
 */
export async function explainNoModel(
  problem: string,
  providers: Providers,
  discover = discoverLocalServers,
): Promise<{ readonly ok: false; readonly problem: string }> {
  if (problem !== NO_KEY) return { ok: false, problem };
  const keys = keysFound(providers).map(
    ({ label, source, model }) => `There is a key of ${label} (${source}): --model ${model}`,
  );
  const found = (await discover()).flatMap(({ name, prefix, models: [model] }) =>
    model === undefined ? [] : [`${name} answers on this machine: --model ${prefix}/${model}`],
  );
  return { ok: false, problem: [problem, ...keys, ...found].join('\n') };
}

/** A place that has a key, with the model to begin with there. */
export type FoundKey = { readonly label: string; readonly source: string; readonly model: string };

/** Places with a key that is theirs alone; one that other programs share was not put there for us. */
export function keysFound(providers: Providers): readonly FoundKey[] {
  return [...PRESETS].flatMap(([name, { label, main, sharesKeys }]) => {
    const { apiKey, fetchKey, keySource = 'settings' } = providers[name] ?? {};
    const hasKey = apiKey !== undefined || fetchKey !== undefined;
    return hasKey && main !== undefined && (sharesKeys !== true || keySource === 'settings')
      ? [{ label, source: keySource, model: `${name}/${main}` }]
      : [];
  });
}
