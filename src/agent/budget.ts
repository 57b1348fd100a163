import { createTokenEstimator, estimateSystemPromptTokens, sumNumbers } from '../context/token-estimate.ts';
import { CHARS_PER_TOKEN, type ModelPrice, type ModelRequest } from '../contracts/model.ts';
import { computeCostUsd } from '../model/pricing.ts';

/** A spending limit in dollars. Agents that share one never spend more than its limit together. */
export type Budget = {
  readonly limitUsd: number;
  /** Returns the dollars that finished requests have cost. */
  spentUsd(): number;
  /** Returns the dollars that are set aside for running requests. */
  reservedUsd(): number;
  /**
   * Sets the highest possible cost of a request aside. Waits for running requests if too little is left, and returns
   * `undefined` if it is still too little then, or once aborted.
   */
  reserve(request: RequestCost, signal: AbortSignal): Promise<Reservation | undefined>;
};

/** The possible cost of a request. */
export type RequestCost = {
  readonly inputUsd: number;
  readonly usdPerOutputToken: number;
  readonly maxOutputTokens: number;
};

/** The part of a budget that is set aside for one request. */
export type Reservation = {
  /** Output limit that the budget covers; at most that of the request. */
  readonly maxOutputTokens: number;
  /** Adds the cost of a failed attempt. Returns false if the rest no longer covers another attempt. */
  charge(usd: number): boolean;
  /** Releases the reservation and adds the actual cost. */
  settle(usd: number): void;
};

/** A request whose output would be shorter waits for others, or is refused. */
const MIN_OUTPUT_TOKENS = 500;
/** A request with this much output does not wait for others. */
const AMPLE_OUTPUT_TOKENS = 8_000;

/** Creates a budget. Pass it as `budget` to every agent that shares it. */
export function createBudget(limitUsd: number): Budget {
  if (typeof limitUsd !== 'number' || !(limitUsd >= 0))
    throw new TypeError('createBudget: the limit must be a number of dollars, 0 or more.');
  let spent = 0;
  const reservations = new Set<{ readonly usd: number }>();
  const waiting = new Set<() => void>();
  const countReserved = () => sumNumbers([...reservations].map(({ usd }) => usd));

  function take({ inputUsd, usdPerOutputToken, maxOutputTokens }: RequestCost): Reservation | undefined {
    const left = limitUsd - spent - countReserved() - inputUsd;
    const covered = usdPerOutputToken === 0 ? maxOutputTokens : Math.floor(left / usdPerOutputToken);
    const enough = Math.min(maxOutputTokens, reservations.size === 0 ? MIN_OUTPUT_TOKENS : AMPLE_OUTPUT_TOKENS);
    if (left < 0 || covered < enough) return undefined;
    const tokens = Math.min(maxOutputTokens, covered);
    const reservation = { usd: inputUsd + tokens * usdPerOutputToken };
    reservations.add(reservation);
    return {
      maxOutputTokens: tokens,
      charge(usd) {
        spent += usd;
        return spent + countReserved() <= limitUsd;
      },
      settle(usd) {
        if (!reservations.delete(reservation)) return;
        spent += usd;
        for (const wake of waiting) wake();
      },
    };
  }

  return {
    limitUsd,
    spentUsd: () => spent,
    reservedUsd: countReserved,
    async reserve(request, signal) {
      for (;;) {
        if (signal.aborted) return undefined;
        const reservation = take(request);
        if (reservation !== undefined || reservations.size === 0) return reservation;
        await waitForSettlement(waiting, signal);
      }
    },
  };
}

function waitForSettlement(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      waiting.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}

/** The estimate assumes the densest usual text: two characters per token. */
const SAFETY_FACTOR = CHARS_PER_TOKEN / 2;

/** Computes the highest cost that a request can have, from its length and the price of its model. */
export function computeMaxRequestCost(request: ModelRequest, price: ModelPrice): RequestCost {
  const { blockTokens } = createTokenEstimator();
  const messageTokens = sumNumbers(request.messages.flatMap(({ blocks }) => blocks.map(blockTokens)));
  const inputTokens = Math.ceil(
    (estimateSystemPromptTokens(request.system, request.tools) + messageTokens) * SAFETY_FACTOR,
  );
  // A prompt may be charged as a write to the cache, which costs more than plain input.
  const isWritten = price.cacheWrite > price.input;
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const input = { ...usage, [isWritten ? 'cacheWriteTokens' : 'inputTokens']: inputTokens };
  const inputUsd = computeCostUsd(input, price) ?? 0;
  const outputUsd = (computeCostUsd({ ...input, outputTokens: 1_000_000 }, price) ?? 0) - inputUsd;
  return { inputUsd, usdPerOutputToken: outputUsd / 1_000_000, maxOutputTokens: request.maxOutputTokens };
}
