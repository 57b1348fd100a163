import type { Feature } from '../../src/contracts/feature.ts';

/** A new behaviour around calls, as a whole: the model is told when a call took longer than its median. */
export function createSlowCallsFeature(): Feature {
  const times = new Map<string, number[]>();
  return {
    name: 'slow calls',
    async afterCall({ tool }, _outcome, durationMs) {
      const earlier = times.get(tool) ?? [];
      times.set(tool, [...earlier, durationMs]);
      const median = earlier.toSorted((a, b) => a - b)[Math.floor(earlier.length / 2)];
      return median !== undefined && durationMs > median ? { context: `${tool} took longer than its median.` } : {};
    },
  };
}
