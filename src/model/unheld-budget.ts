import type { RunOptions } from '../contracts/face/run-options.ts';
import type { ModelInfo } from '../contracts/model.ts';

/** A limit in dollars means nothing where no price is known; better said than relied on. */
export function unheldBudget(
  { maxBudgetUsd }: Pick<RunOptions, 'maxBudgetUsd'>,
  { id, price }: Pick<ModelInfo, 'id' | 'price'>,
): readonly string[] {
  if (maxBudgetUsd === undefined || price !== undefined) return [];
  return [`The price of ${id} is not known here, so --max-budget-usd will not stop anything. --max-turns would.`];
}
