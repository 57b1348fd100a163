import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { FailedCallCount } from './eval-run-metrics.ts';
import { EvalFileError } from './eval-task.ts';
import type { EvalRunRecord } from './run-eval-attempt.ts';

const count = z.number().min(0);
const runSchema = z.object({
  task: z.string(),
  model: z.string(),
  attempt: count,
  outcome: z.enum(['passed', 'failed', 'error']),
  reason: z.string(),
  requests: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  calls: count,
  lostTurns: count,
  failures: z.array(z.object({ tool: z.string(), cause: z.string(), count })),
  costUsd: count,
  hasUnknownCost: z.boolean().default(false),
  durationMs: count,
  change: z.object({ files: count, added: count, removed: count }),
});
const reportSchema = z.object({ version: z.literal(1), runs: z.array(runSchema) });

/** The summary of all runs of a model. Means and sums leave out runs that could not be judged. */
export type ModelEvalSummary = {
  readonly model: string;
  readonly runs: number;
  readonly errors: number;
  readonly passed: number;
  /** Share of passed runs, with the bounds of its 95 % confidence interval. */
  readonly passRate: { readonly rate: number; readonly low: number; readonly high: number };
  readonly mean: {
    readonly requests: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly seconds: number;
    readonly costUsd: number;
  };
  /** Share of the input tokens that came from the cache. */
  readonly cacheShare: number;
  readonly costUsd: number;
  readonly hasUnknownCost: boolean;
  readonly lostTurns: number;
  readonly failures: readonly FailedCallCount[];
};

/** A report: all runs, and their summaries. */
export type EvalReport = {
  readonly version: 1;
  readonly ouro: string;
  readonly startedAt: string;
  readonly models: readonly ModelEvalSummary[];
  readonly runs: readonly EvalRunRecord[];
};

export function createEvalReport(
  runs: readonly EvalRunRecord[],
  about: Pick<EvalReport, 'ouro' | 'startedAt'>,
): EvalReport {
  const models = [...new Set(runs.map(({ model }) => model))];
  return { version: 1, ...about, models: models.map((model) => summarize(model, runs)), runs };
}

/** Reads the runs of an earlier report; their models get a suffix, so that both can stand in one report. */
export async function readEvalBaseline(file: string): Promise<readonly EvalRunRecord[]> {
  const parsed = reportSchema.safeParse(
    await readFile(file, 'utf8')
      .then(JSON.parse, () => undefined)
      .catch(() => undefined),
  );
  if (!parsed.success) throw new EvalFileError(`${file} is not a report of ouro eval: write one with --out.`);
  return parsed.data.runs.map((run) => ({ ...run, model: `${run.model} (baseline)` }));
}

function summarize(model: string, allRuns: readonly EvalRunRecord[]): ModelEvalSummary {
  const own = allRuns.filter((run) => run.model === model);
  const runs = own.filter(({ outcome }) => outcome !== 'error');
  const passed = runs.filter(({ outcome }) => outcome === 'passed').length;
  const sum = (read: (run: EvalRunRecord) => number) => runs.reduce((total, run) => total + read(run), 0);
  const mean = (read: (run: EvalRunRecord) => number) => (runs.length === 0 ? 0 : sum(read) / runs.length);
  const input = (run: EvalRunRecord) => run.inputTokens + run.cacheReadTokens + run.cacheWriteTokens;
  return {
    model,
    runs: own.length,
    errors: own.length - runs.length,
    passed,
    passRate: computePassRate(passed, runs.length),
    mean: {
      requests: mean((run) => run.requests),
      inputTokens: mean(input),
      outputTokens: mean((run) => run.outputTokens),
      seconds: mean((run) => run.durationMs / 1000),
      costUsd: mean((run) => run.costUsd),
    },
    cacheShare: sum((run) => run.cacheReadTokens) / Math.max(1, sum(input)),
    costUsd: own.reduce((total, run) => total + run.costUsd, 0),
    hasUnknownCost: own.some((run) => run.hasUnknownCost),
    lostTurns: sum((run) => run.lostTurns),
    failures: mergeFailures(runs.flatMap(({ failures }) => failures)),
  };
}

function mergeFailures(failures: readonly FailedCallCount[]): readonly FailedCallCount[] {
  const merged = new Map<string, FailedCallCount>();
  for (const failure of failures) {
    const key = `${failure.tool} ${failure.cause}`;
    merged.set(key, { ...failure, count: (merged.get(key)?.count ?? 0) + failure.count });
  }
  return [...merged.values()].toSorted((a, b) => b.count - a.count || a.tool.localeCompare(b.tool, 'en'));
}

/** The quantile of the normal distribution for 95 %. */
const Z = 1.959964;

/** Computes a share with its Wilson score interval, which is right for few runs and for shares of 0 and 1. @internal */
export function computePassRate(passed: number, runs: number): ModelEvalSummary['passRate'] {
  if (runs === 0) return { rate: 0, low: 0, high: 1 };
  const rate = passed / runs;
  const scale = 1 + Z ** 2 / runs;
  const center = (rate + Z ** 2 / (2 * runs)) / scale;
  const half = (Z / scale) * Math.sqrt((rate * (1 - rate)) / runs + Z ** 2 / (4 * runs ** 2));
  return { rate, low: Math.max(0, center - half), high: Math.min(1, center + half) };
}
