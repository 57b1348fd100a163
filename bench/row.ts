/** One figure: what was measured, what it has to reach, and what the machine could do at best. */
export type Row = {
  readonly name: string;
  readonly unit: 'ms' | 's' | 'MB' | 'KB' | 'times' | 'count' | 'bytes';
  readonly value: number;
  /** At most this; without it the figure is only told. */
  readonly must?: number;
  readonly floor?: number;
};

/** A group of figures that are measured together. */
export type Measure = {
  readonly name: string;
  readonly words: string;
  run(): Promise<readonly Row[]>;
};

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** The slope of a straight line through the values, as the growth from the first to the last. */
export function growth(values: readonly number[]): number {
  const third = Math.max(1, Math.floor(values.length / 3));
  return median(values.slice(-third)) / median(values.slice(0, third));
}

export async function repeated(times: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < times; round += 1) values.push(await measure());
  return median(values);
}
