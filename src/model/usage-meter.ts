import type { AgentEvent } from '../contracts/event.ts';
import type { UsageReport } from '../contracts/frontend/conversation.ts';
import type { Message, Usage } from '../contracts/message.ts';
import type { ModelInfo } from '../contracts/model.ts';
import { getModelInfo } from './built-in-models.ts';
import { addReplyUsage, type ModelUsageTotals, sumModelCosts, sumTokenUsage } from './pricing.ts';

/** Meter of the tokens and costs of a session, including sub-agents and side calls. */
export type UsageMeter = ReturnType<typeof createUsageMeter>;

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Messages and spending of earlier runs of a session. */
type EarlierUsage = { readonly messages: readonly Message[]; readonly spentUsd: number };

/** Creates a usage meter; `infoOf` supplies prices and limits of models. */
export function createUsageMeter(
  infoOf: (model: string) => ModelInfo = getModelInfo,
  earlier: EarlierUsage = { messages: [], spentUsd: 0 },
) {
  let totals: ModelUsageTotals = new Map();
  let apiMs = 0;
  let lastUsage = findLastUsage(earlier.messages);
  let contextTokens = lastUsage === undefined ? 0 : countContextTokens(lastUsage);
  let lines = { added: 0, removed: 0 };
  const since = new Date();

  function addEvent(event: AgentEvent): void {
    if (event.type === 'subagent') addEvent(event.event);
    if (event.type === 'tool_end' && event.display?.kind === 'diff') {
      const { added, removed } = event.display;
      lines = { added: lines.added + added, removed: lines.removed + removed };
    }
    if (event.type !== 'turn_end') return;
    apiMs += event.durationMs;
    if (event.usage !== undefined) totals = addReplyUsage(totals, event.model, event.usage, infoOf(event.model).price);
  }

  return {
    name: 'usage meter',
    /** Start time as an ISO timestamp. */
    startedAt: since.toISOString(),
    /** Adds lines that an undo or redo changed: negative numbers for those that were taken back. */
    addLines({ added, removed }: UsageReport['lines']) {
      lines = { added: lines.added + added, removed: lines.removed + removed };
    },
    onEvent(event: AgentEvent) {
      addEvent(event);
      if (event.type === 'turn_end' && event.usage !== undefined) {
        lastUsage = event.usage;
        contextTokens = countContextTokens(event.usage);
      }
      if (event.type === 'compacted') {
        lastUsage = undefined;
        contextTokens = event.postTokens;
      }
    },
    /** Adds a reply that no event reports: a title, a summary, an answer about a web page. */
    addReply(model: string, usage: Usage) {
      totals = addReplyUsage(totals, model, usage, infoOf(model).price);
    },
    save() {
      const spentUsd = earlier.spentUsd + sumModelCosts(totals).usd;
      return spentUsd > 0 ? { spentUsd } : {};
    },
    getCostUsd: (): number => sumModelCosts(totals).usd,
    /** Size of the last turn of the main conversation, as counted by the API. */
    getContextTokens: (): number => contextTokens,
    /** Usage of the last reply of the main conversation; absent before it and after a compaction. */
    getLastUsage: (): Usage | undefined => lastUsage,
    createReport(): UsageReport {
      const { usd, isComplete } = sumModelCosts(totals);
      const models = [...totals].map(([model, total]) => {
        const { contextWindow, maxOutputTokens } = infoOf(model);
        return { model, ...total, contextWindow, maxOutputTokens };
      });
      const total = models.reduce((sum, { usage }) => sumTokenUsage(sum, usage), NO_USAGE);
      return { models, total, costUsd: usd, isComplete, apiMs, elapsedMs: Date.now() - since.getTime(), lines };
    },
  };
}

function countContextTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
}

/** Returns the usage of the last reply of an earlier run, unless the context was compacted since. */
function findLastUsage(messages: readonly Message[]): Usage | undefined {
  const last = messages.findLast((message) => message.role === 'assistant');
  const isUncompacted = messages.every(({ role }) => role !== 'boundary');
  return isUncompacted && last?.role === 'assistant' ? last.usage : undefined;
}
