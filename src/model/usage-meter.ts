import type { AgentEvent } from '../contracts/event.ts';
import type { UsageReport } from '../contracts/face/conversation.ts';
import type { Message, Usage } from '../contracts/message.ts';
import type { ModelInfo } from '../contracts/model.ts';
import { modelInfo } from './catalog.ts';
import { addUsage, sumUsage, totalCost, type UsageTotals } from './pricing.ts';

/** Counts what replies cost, sub-agents and side calls included. */
export type UsageMeter = {
  count(event: AgentEvent): void;
  /** A reply that comes in no event: titles, summaries, answers about pages. */
  add(model: string, usage: Usage): void;
  costUsd(): number;
  report(): UsageReport;
  /** The size of the last request of the main conversation, as the API counted it. */
  contextTokens(): number;
  /** What the last reply of an earlier run says of the size of the context, unless it was compacted since. */
  resume(messages: readonly Message[]): void;
  /** When it began to count. */
  readonly since: string;
};

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function createUsageMeter(infoOf: (model: string) => ModelInfo = modelInfo): UsageMeter {
  let totals: UsageTotals = new Map();
  let apiMs = 0;
  let contextTokens = 0;
  let lines = { added: 0, removed: 0 };
  const since = new Date();

  function addTurn(event: AgentEvent): void {
    if (event.type === 'subagent') addTurn(event.event);
    if (event.type === 'tool_end' && event.display?.kind === 'diff') {
      const { added, removed } = event.display;
      lines = { added: lines.added + added, removed: lines.removed + removed };
    }
    if (event.type !== 'turn_end') return;
    apiMs += event.durationMs;
    if (event.usage !== undefined) totals = addUsage(totals, event.model, event.usage, infoOf(event.model).price);
  }

  return {
    since: since.toISOString(),
    count(event) {
      addTurn(event);
      if (event.type === 'turn_end' && event.usage !== undefined) contextTokens = sizeOf(event.usage);
      if (event.type === 'compacted') contextTokens = event.postTokens;
    },
    add(model, usage) {
      totals = addUsage(totals, model, usage, infoOf(model).price);
    },
    resume(messages) {
      const last = messages.findLast((message) => message.role === 'assistant');
      const isWhole = messages.every(({ role }) => role !== 'boundary');
      if (isWhole && last?.role === 'assistant' && last.usage !== undefined) contextTokens = sizeOf(last.usage);
    },
    costUsd: () => totalCost(totals).usd,
    contextTokens: () => contextTokens,
    report() {
      const { usd, isComplete } = totalCost(totals);
      const models = [...totals].map(([model, total]) => {
        const { contextWindow, maxOutputTokens } = infoOf(model);
        return { model, ...total, contextWindow, maxOutputTokens };
      });
      const total = models.reduce((sum, { usage }) => sumUsage(sum, usage), NOTHING);
      return { models, total, costUsd: usd, isComplete, apiMs, elapsedMs: Date.now() - since.getTime(), lines };
    },
  };
}

function sizeOf(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
}
