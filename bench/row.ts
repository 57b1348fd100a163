/** One figure: the measured value, its limit, and the floor (the best this machine could do). */
export type Row = {
  readonly name: string;
  readonly unit: 'ms' | 's' | 'MB' | 'KB' | 'times' | 'count' | 'bytes';
  readonly value: number;
  /** Maximum; absent if the figure is only reported. */
  readonly must?: number;
  readonly floor?: number;
};

/** A group of figures that are measured together, with a description for the progress output. */
export type Measure = {
  readonly name: string;
  readonly description: string;
  run(): Promise<readonly Row[]>;
};

/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Returns the growth: the median of the last third divided by that of the first. */
export function growth(values: readonly number[]): number {
  const third = Math.max(1, Math.floor(values.length / 3));
  return median(values.slice(-third)) / median(values.slice(0, third));
}

/** Returns the median of repeated measurements. */
export async function repeated(times: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < times; round += 1) values.push(await measure());
  return median(values);
}
