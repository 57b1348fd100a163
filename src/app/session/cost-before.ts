import type { Usage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { formatMoney, formatTokens } from '../../lib/text/format.ts';
import { createModelInfo, type InfoOfModels } from '../../model/choose/model-info.ts';
import { addUsage, sumUsage, totalCost, type UsageTotals } from '../../model/pricing.ts';
import { subagentPath } from '../../session/paths.ts';
import { eachRecord } from '../../session/records/read-transcript.ts';
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
    const used: { readonly model: string; readonly usage: Usage }[] = [];
    const hear = (record: SessionRecord) => {
      if (record.type !== 'reply' || record.usage === undefined || !fits(record.timestamp)) return;
      used.push({ model: record.model, usage: record.usage });
    };
    await eachRecord(file, hear).catch(() => undefined);
    for (const { model, usage } of used) {
      await lookUp(model);
      totals = addUsage(totals, model, usage, infoOf(model).price);
    }
  }
  return totals;
}
