import type { Spending, SpentRequest } from '../contracts/event.ts';
import type { Usage } from '../contracts/message.ts';
import {
  CHARS_PER_TOKEN,
  type ModelEvent,
  type ModelFailure,
  type ModelInfo,
  type ModelPort,
  type ModelRequest,
} from '../contracts/model.ts';
import { computeCostUsd, sumTokenUsage } from '../model/pricing.ts';
import { type Budget, computeMaxRequestCost, type Reservation } from './budget.ts';

/** Nothing spent. */
export const NO_SPENDING: Spending = {
  usd: 0,
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  isIncomplete: false,
};

/** The meter of an agent. */
export type SpendingMeter = {
  current(): Spending;
  /** Wraps a port: each request is reserved in the budgets first, and counted at its end. */
  wrap(stream: ModelPort['stream']): ModelPort['stream'];
};

/** Returns the spending since an earlier moment. */
export function subtractSpending(now: Spending, before: Spending): Spending {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = before.usage;
  return {
    usd: now.usd - before.usd,
    usage: {
      inputTokens: now.usage.inputTokens - inputTokens,
      outputTokens: now.usage.outputTokens - outputTokens,
      cacheReadTokens: now.usage.cacheReadTokens - cacheReadTokens,
      cacheWriteTokens: now.usage.cacheWriteTokens - cacheWriteTokens,
    },
    isIncomplete: now.isIncomplete && !before.isIncomplete,
  };
}

type MeterDeps = {
  readonly budgets: readonly Budget[];
  readonly getModelInfo: (model: string) => ModelInfo;
  readonly onSpent: (request: SpentRequest, total: Spending) => void;
};

/** Creates the spending meter of an agent. */
export function createSpendingMeter({ budgets, getModelInfo, onSpent }: MeterDeps): SpendingMeter {
  let spending = NO_SPENDING;

  function count(model: string, usage: Usage): number {
    const usd = computeCostUsd(usage, getModelInfo(model).price);
    spending = {
      usd: spending.usd + (usd ?? 0),
      usage: sumTokenUsage(spending.usage, usage),
      isIncomplete: spending.isIncomplete || usd === undefined,
    };
    onSpent({ model, usage, ...(usd === undefined ? {} : { usd }) }, spending);
    return usd ?? 0;
  }

  return {
    current: () => spending,
    wrap: (stream) =>
      async function* (request, options, signal) {
        const reserved = await reserveAll(request, budgets, getModelInfo(request.model), signal);
        if (!reserved.ok) return { ok: false, failure: reserved.failure };
        const { maxOutputTokens, reservations } = reserved;
        const events = stream({ ...request, maxOutputTokens }, options, signal);
        let attempt: Attempt | undefined;
        const endAttempt = (usage = attempt && estimateUsage(attempt)) => {
          attempt = undefined;
          return usage === undefined ? 0 : count(request.model, usage);
        };
        try {
          for (;;) {
            const step = await events.next();
            if (step.done === true) {
              const usd = endAttempt(step.value.ok ? step.value.usage : undefined);
              for (const reservation of reservations) reservation.settle(usd);
              return step.value;
            }
            attempt = observeAttempt(attempt, step.value);
            if (step.value.type === 'retry') {
              const usd = endAttempt();
              const isCovered = reservations.map((reservation) => reservation.charge(usd)).every(Boolean);
              if (!isCovered) return { ok: false, failure: createLimitFailure(describeSpentBudget(budgets)) };
            }
            yield step.value;
          }
        } finally {
          const usd = endAttempt();
          for (const reservation of reservations) reservation.settle(usd);
          await events.return({ ok: false, failure: INTERRUPTED });
        }
      },
  };
}

type Reserved =
  | { readonly ok: true; readonly maxOutputTokens: number; readonly reservations: readonly Reservation[] }
  | { readonly ok: false; readonly failure: ModelFailure };

async function reserveAll(
  request: ModelRequest,
  budgets: readonly Budget[],
  { id, price }: ModelInfo,
  signal: AbortSignal,
): Promise<Reserved> {
  let { maxOutputTokens } = request;
  const reservations: Reservation[] = [];
  for (const budget of budgets) {
    if (price === undefined) return { ok: false, failure: createLimitFailure(describeUnknownPrice(id)) };
    const reservation = await budget.reserve({ ...computeMaxRequestCost(request, price), maxOutputTokens }, signal);
    if (reservation === undefined) {
      for (const taken of reservations) taken.settle(0);
      if (signal.aborted) return { ok: false, failure: INTERRUPTED };
      return { ok: false, failure: createLimitFailure(describeSpentBudget([budget])) };
    }
    reservations.push(reservation);
    maxOutputTokens = reservation.maxOutputTokens;
  }
  return { ok: true, maxOutputTokens, reservations };
}

const INTERRUPTED: ModelFailure = { kind: 'aborted', message: 'Interrupted.' };

function describeSpentBudget(budgets: readonly Budget[]): string {
  const [tightest] = budgets.toSorted((a, b) => a.limitUsd - a.spentUsd() - (b.limitUsd - b.spentUsd()));
  const { limitUsd = 0, spentUsd = () => 0 } = tightest ?? {};
  return `The budget of $${limitUsd} does not cover another request: $${spentUsd().toFixed(4)} are spent.`;
}

function createLimitFailure(message: string): ModelFailure {
  return { kind: 'aborted', limit: 'budget_exhausted', message };
}

/** Explains why a budget cannot be kept for a model. */
function describeUnknownPrice(model: string): string {
  return `The budget cannot be kept: no price is known for ${model}. Pass it as { model, info: { price } }, or remove maxBudgetUsd and budget.`;
}

/** The attempt that is streaming: the usage at its start, and the length of its output so far. */
type Attempt = { readonly usage: Usage; readonly outputChars: number };

function observeAttempt(attempt: Attempt | undefined, event: ModelEvent): Attempt | undefined {
  switch (event.type) {
    case 'message_start':
      return { usage: event.usage, outputChars: 0 };
    case 'text_delta':
    case 'thinking_delta':
      return addOutput(attempt, event.text.length);
    case 'input_delta':
      return addOutput(attempt, event.json.length);
    default:
      return attempt;
  }
}

function addOutput(attempt: Attempt | undefined, chars: number): Attempt | undefined {
  return attempt && { ...attempt, outputChars: attempt.outputChars + chars };
}

/** Estimates the usage of a broken attempt, which is paid as well; only a complete reply reports its output. */
function estimateUsage({ usage, outputChars }: Attempt): Usage {
  return { ...usage, outputTokens: Math.max(usage.outputTokens, Math.ceil(outputChars / CHARS_PER_TOKEN)) };
}
