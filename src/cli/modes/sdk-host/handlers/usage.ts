import type { Conversation } from '../../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../../contracts/json.ts';
import { formatModelCost, formatTokens } from '../../../../lib/text/format.ts';
import { describeModelUsage } from '../../../stream-json/run-result.ts';
import { type ControlHandler, createControlHandler, noParametersSchema } from '../control-handler.ts';

/** Handlers for token usage and cost. */
export const usageControlHandlers: Readonly<Record<string, ControlHandler>> = {
  get_context_usage: createControlHandler(noParametersSchema, (_, { conversation }) =>
    describeContextUsage(conversation),
  ),
  get_session_cost: createControlHandler(noParametersSchema, (_, { conversation }) => {
    const { costUsd, total, isComplete } = conversation.usage();
    const tokens = `${formatTokens(total.inputTokens)} in, ${formatTokens(total.outputTokens)} out`;
    return { text: `${formatModelCost(costUsd, { isComplete })}, ${tokens}`, total_cost_usd: costUsd };
  }),
  get_usage: createControlHandler(noParametersSchema, (_, { conversation }) => {
    const report = conversation.usage();
    return {
      session: {
        total_cost_usd: report.costUsd,
        total_api_duration_ms: report.apiMs,
        total_duration_ms: report.elapsedMs,
        total_lines_added: Math.max(0, report.lines.added),
        total_lines_removed: Math.max(0, report.lines.removed),
        model_usage: describeModelUsage(report),
      },
      subscription_type: null,
      rate_limits_available: false,
      rate_limits: null,
      behaviors: null,
    };
  }),
};

const COLORS = ['blue', 'cyan', 'green', 'magenta', 'yellow', 'red'];
const GRID_COLUMNS = 10;

async function describeContextUsage(conversation: Conversation): Promise<JsonObject> {
  const usage = await conversation.contextUsage();
  const free = Math.max(0, usage.maxTokens - usage.totalTokens);
  const used = usage.categories.map(({ name, tokens }, index) => ({
    name,
    tokens,
    color: COLORS[index % COLORS.length] ?? 'blue',
    kind: 'used',
  }));
  const categories = [...used, { name: 'Free space', tokens: free, color: 'gray', kind: 'free', id: 'free_space' }];
  return {
    categories,
    totalTokens: usage.totalTokens,
    maxTokens: usage.maxTokens,
    rawMaxTokens: usage.maxTokens,
    percentage: Math.round((100 * usage.totalTokens) / Math.max(1, usage.maxTokens)),
    gridRows: createGrid(categories, usage.maxTokens),
    model: usage.model,
    memoryFiles: [],
    mcpTools: [],
    agents: [],
    isAutoCompactEnabled: true,
    apiUsage: null,
  };
}

type Category = { readonly name: string; readonly tokens: number; readonly color: string; readonly kind: string };

/** Creates a grid of a hundred squares, one per percent of the context window. */
function createGrid(categories: readonly Category[], maxTokens: number): readonly (readonly JsonObject[])[] {
  const squares = categories.flatMap((category) => {
    const share = category.tokens / Math.max(1, maxTokens);
    const square = {
      color: category.color,
      isFilled: category.kind === 'used',
      categoryName: category.name,
      tokens: category.tokens,
      percentage: Math.round(100 * share),
      squareFullness: 1,
    };
    return Array.from({ length: Math.round(100 * share) }, () => square);
  });
  const rows = Math.ceil(Math.min(100, squares.length) / GRID_COLUMNS);
  return Array.from({ length: rows }, (_, row) => squares.slice(row * GRID_COLUMNS, (row + 1) * GRID_COLUMNS));
}
