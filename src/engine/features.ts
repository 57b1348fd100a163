import type { Feature } from '../contracts/feature.ts';
import type { AfterCall, BeforeCall, QueryDeps } from '../contracts/query.ts';

/** The callbacks of the loop that features provide. */
type FeatureDeps = Pick<QueryDeps, 'beforeCall' | 'afterCall' | 'onStop' | 'attachments'>;

/** Makes the callbacks of the loop from a list of features, which are asked in its order. */
export function composeFeatures(features: readonly Feature[]): FeatureDeps {
  return {
    async beforeCall(call, signal) {
      let verdict: BeforeCall = {};
      for (const { beforeCall } of features) {
        if (beforeCall === undefined) continue;
        const { input = call.input } = verdict;
        verdict = addBeforeCall(verdict, await beforeCall(input === call.input ? call : { ...call, input }, signal));
        if (verdict.deny !== undefined || verdict.stop !== undefined) break;
      }
      return verdict;
    },
    async afterCall(call, outcome, durationMs, signal) {
      let verdict: AfterCall = {};
      for (const { afterCall } of features) {
        if (afterCall === undefined) continue;
        const next = await afterCall(call, verdict.outcome ?? outcome, durationMs, signal);
        verdict = { ...next, ...verdict, ...joinContext(verdict, next), ...pickOutcome(verdict, next) };
      }
      return verdict;
    },
    async onStop(facts, signal) {
      for (const { onStop } of features) {
        const verdict = await onStop?.(facts, signal);
        if (verdict !== undefined && verdict.kind !== 'pass') return verdict;
      }
      return { kind: 'pass' };
    },
    async attachments() {
      const all: string[] = [];
      for (const { reminders } of features) if (reminders !== undefined) all.push(...(await reminders()));
      return all;
    },
  };
}

/** Adds what a feature says: its input counts from now on, otherwise the feature that spoke first. */
function addBeforeCall(verdict: BeforeCall, next: BeforeCall): BeforeCall {
  const input = next.input ?? verdict.input;
  return { ...next, ...verdict, ...(input === undefined ? {} : { input }), ...joinContext(verdict, next) };
}

type WithContext = { readonly context?: string };

function joinContext({ context: before }: WithContext, { context: next }: WithContext): WithContext {
  const parts = [before, next].filter((part) => part !== undefined);
  return parts.length === 0 ? {} : { context: parts.join('\n\n') };
}

function pickOutcome(verdict: AfterCall, next: AfterCall): Pick<AfterCall, 'outcome'> {
  const outcome = next.outcome ?? verdict.outcome;
  return outcome === undefined ? {} : { outcome };
}
