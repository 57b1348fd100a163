import { discoverLocalServers } from './discovery.ts';
import { NO_KEY } from './key-problem.ts';

/** Why there is no model. Where only a key is missing, servers that answer on this machine are named, ready to be used. */
export async function explainNoModel(
  problem: string,
  discover = discoverLocalServers,
): Promise<{ readonly ok: false; readonly problem: string }> {
  if (problem !== NO_KEY) return { ok: false, problem };
  const found = (await discover()).flatMap(({ name, prefix, models: [model] }) =>
    model === undefined ? [] : [`${name} answers on this machine: --model ${prefix}/${model}`],
  );
  return { ok: false, problem: [problem, ...found].join('\n') };
}
