import { formatMoney, formatTokens } from '../../lib/text/format.ts';
import { createModelInfo, type InfoOfModels } from '../../model/choose/model-info.ts';
import { addUsage, sumUsage, totalCost, type UsageTotals } from '../../model/pricing.ts';
import { subagentPath } from '../../session/paths.ts';
import { readTranscript } from '../../session/records/read-records.ts';
import { agentsOf } from '../../session/stored/subagents.ts';

type ModelFinder = Pick<InfoOfModels, 'infoOf' | 'lookUp'>;

/** What earlier runs of this session used, from its files; `undefined` when this is the first. */
export async function costBefore(
  { path, folder }: { readonly path: string | undefined; readonly folder: string },
  since: string,
  models: ModelFinder,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const totals = await totalsOf(path, folder, (timestamp) => timestamp < since, models);
  const all = [...totals.values()];
  if (all.length === 0) return undefined;
  const usage = all.map((total) => total.usage).reduce(sumUsage);
  const { usd, isComplete } = totalCost(totals);
  const read = formatTokens(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens);
  const replies = all.reduce((sum, total) => sum + total.replies, 0);
  const money = `${formatMoney(usd)}${isComplete ? '' : ' and what has no known price'}`;
  return `Earlier in this session: ${replies} ${replies === 1 ? 'reply' : 'replies'}, ${read} tokens read and ${formatTokens(usage.outputTokens)} written, ${money}; titles and summaries are not in it.`;
}

/** What all replies of a stored session have cost, its sub-agents included; what has no known price counts nothing. */
export async function storedCostUsd(path: string, models: ModelFinder = createModelInfo()): Promise<number> {
  return totalCost(await totalsOf(path, path.replace(/\.jsonl$/, ''), () => true, models)).usd;
}

async function totalsOf(
  path: string,
  folder: string,
  fits: (timestamp: string) => boolean,
  { infoOf, lookUp }: ModelFinder,
): Promise<UsageTotals> {
  let totals: UsageTotals = new Map();
  const agents = await agentsOf(folder).catch(() => []);
  for (const file of [path, ...agents.map((agentId) => subagentPath(folder, agentId))]) {
    const read = await readTranscript(file).catch(() => undefined);
    for (const record of read?.records ?? []) {
      if (record.type !== 'reply' || record.usage === undefined || !fits(record.timestamp)) continue;
      await lookUp(record.model);
      totals = addUsage(totals, record.model, record.usage, infoOf(record.model).price);
    }
  }
  return totals;
}
