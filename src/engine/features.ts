import type { Feature, ReminderMoment } from '../contracts/feature.ts';
import type { PromptVerdict } from '../contracts/hook.ts';
import type { PermissionAnswer } from '../contracts/permission.ts';
import type { AfterCall, BeforeCall, QueryDeps } from '../contracts/query.ts';
import type { CallRequest } from '../contracts/tool.ts';

/** The callbacks of the loop that features provide. */
export type FeatureDeps = Pick<QueryDeps, 'beforeCall' | 'afterCall' | 'onStop' | 'attachments'>;

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
    attachments: (signal) => collectReminders(features, 'turn', signal),
  };
}

/** Makes the prompt hook of an agent from its features: the first refusal counts, reminders follow the contexts. */
export function composePromptHook(features: readonly Feature[]): NonNullable<Feature['onPrompt']> {
  return async (prompt, signal, origin): Promise<PromptVerdict> => {
    const context: string[] = [];
    for (const { onPrompt } of features) {
      const verdict = await onPrompt?.(prompt, signal, origin);
      if (verdict?.kind === 'block') return verdict;
      if (verdict?.context !== undefined) context.push(verdict.context);
    }
    context.push(...(await collectReminders(features, origin === 'background' ? 'background' : 'prompt', signal)));
    return context.length === 0 ? { kind: 'go' } : { kind: 'go', context: context.join('\n') };
  };
}

/** Makes the function that answers for the user, before the user is asked about a call. */
export function composeApprover(features: readonly Feature[]) {
  return async (call: CallRequest, signal: AbortSignal): Promise<PermissionAnswer | undefined> => {
    for (const { onApproval } of features) {
      const answer = await onApproval?.(call, signal);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
}

/** Makes the function that puts questions to the features in turn, and then to the user. */
export function composeQuestions(features: readonly Feature[], askUser: QueryDeps['ask']): QueryDeps['ask'] {
  return features.reduceRight<QueryDeps['ask']>(
    (ask, { onQuestion }) =>
      onQuestion === undefined
        ? ask
        : (callId, question, signal) => onQuestion(question, () => ask(callId, question, signal), signal),
    askUser,
  );
}

async function collectReminders(
  features: readonly Feature[],
  moment: ReminderMoment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const all: string[] = [];
  for (const { reminders } of features) if (reminders !== undefined) all.push(...(await reminders(moment, signal)));
  return all;
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
