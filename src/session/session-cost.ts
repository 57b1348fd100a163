import type { Usage } from '../contracts/message.ts';
import type { SessionRecord } from '../contracts/session.ts';
import { formatModelCost, formatTokens } from '../lib/text/format.ts';
import { addReplyUsage, type ModelUsageTotals, sumModelCosts, sumTokenUsage } from '../model/pricing.ts';
import { createModelInfoSource, type ModelInfoSource } from '../model/registry/model-info-source.ts';
import { getSubAgentPath } from './paths.ts';
import { forEachSessionRecord } from './records/read-transcript.ts';
import { listSubAgentIds } from './sub-agents.ts';

type ModelFinder = Pick<ModelInfoSource, 'infoOf' | 'lookUp'>;

/** Describes the usage of earlier runs of this session, read from its files; `undefined` for the first run. */
export async function describeEarlierCost(
  { path, folder }: { readonly path: string | undefined; readonly folder: string },
  since: string,
  models: ModelFinder,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const totals = await readUsage(path, folder, (timestamp) => timestamp < since, models);
  const all = [...totals.values()];
  if (all.length === 0) return undefined;
  const usage = all.map((total) => total.usage).reduce(sumTokenUsage);
  const { usd, isComplete } = sumModelCosts(totals);
  const input = formatTokens(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens);
  const replies = all.reduce((sum, total) => sum + total.replies, 0);
  const money = formatModelCost(usd, { isComplete });
  return `Earlier in this session: ${replies} ${replies === 1 ? 'reply' : 'replies'}, ${input} tokens in, ${formatTokens(usage.outputTokens)} tokens out, ${money}; titles and summaries are not included.`;
}

/** Computes the cost of all replies of a stored session and its sub-agents. Models without a known price count as 0. */
export async function computeStoredCostUsd(
  path: string,
  models: ModelFinder = createModelInfoSource(),
): Promise<number> {
  return sumModelCosts(await readUsage(path, path.replace(/\.jsonl$/, ''), () => true, models)).usd;
}

async function readUsage(
  path: string,
  folder: string,
  isIncluded: (timestamp: string) => boolean,
  { infoOf, lookUp }: ModelFinder,
): Promise<ModelUsageTotals> {
  let totals: ModelUsageTotals = new Map();
  const agents = await listSubAgentIds(folder).catch(() => []);
  for (const file of [path, ...agents.map((agentId) => getSubAgentPath(folder, agentId))]) {
    const used: { readonly model: string; readonly usage: Usage }[] = [];
    const collect = (record: SessionRecord) => {
      if (record.type !== 'reply' || record.usage === undefined || !isIncluded(record.timestamp)) return;
      used.push({ model: record.model, usage: record.usage });
    };
    await forEachSessionRecord(file, collect).catch(() => undefined);
    for (const { model, usage } of used) {
      await lookUp(model);
      totals = addReplyUsage(totals, model, usage, infoOf(model).price);
    }
  }
  return totals;
}
