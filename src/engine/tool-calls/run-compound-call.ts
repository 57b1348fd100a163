import { joinTextBlocks, type ToolUseBlock } from '../../contracts/message.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import {
  type PreconditionContext,
  type PreparedCall,
  type StepGuard,
  type Tool,
  ToolFailure,
  type ToolOutcome,
} from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { type CallCompletion, failCall, skipCall } from './call-completion.ts';
import { prepareCall } from './find-tool.ts';

/** A step with the tool that makes it. */
type Step = {
  readonly block: ToolUseBlock;
  readonly tool: Tool;
  readonly call: PreparedCall;
};

/** Admits a step, and runs an admitted one. */
type StepRunner<Admitted extends { readonly call: PreparedCall }> = {
  readonly admit: (step: Step) => Promise<Admitted | CallCompletion>;
  readonly run: (admitted: Admitted) => Promise<CallCompletion>;
};

/**
 * Makes the calls that a call consists of, one after another. Nothing is made before all of them are allowed and
 * possible, and if one fails, the earlier ones are undone.
 */
export async function runCompoundCall<Admitted extends { readonly call: PreparedCall }>(
  { block, call }: { readonly block: ToolUseBlock; readonly call: PreparedCall },
  deps: QueryDeps,
  signal: AbortSignal,
  runner: StepRunner<Admitted>,
): Promise<CallCompletion> {
  const steps = prepareSteps(block, call, deps.tools());
  if ('status' in steps) return steps;
  const isSingle = steps.length === 1;
  const admitted: Admitted[] = [];
  for (const step of steps) {
    const next = await runner.admit(step);
    if ('status' in next)
      return isSingle ? next : addLines(next, ['Nothing was changed: no part of the call was made.']);
    admitted.push(next);
  }
  const context = { cwd: deps.cwd(), signal };
  for (const { call: allowed } of isSingle ? [] : admitted) {
    const obstacle = await allowed.checkPreconditions?.(context);
    if (obstacle !== undefined) return failCall(`Nothing was changed. ${obstacle}`, 'precondition');
  }
  if (signal.aborted) return skipCall();
  const guard = isSingle ? undefined : await openGuard(call, context);
  if (guard !== undefined && 'status' in guard) return guard;
  const ends: CallCompletion[] = [];
  try {
    for (const next of admitted) {
      const end = await runner.run(next);
      ends.push(end);
      if (end.status !== 'done') break;
      await guard?.recordStep();
    }
    return await combine(steps, ends, guard);
  } finally {
    await guard?.release();
  }
}

/** Opens the guard of the steps. Returns how the call ended if their files cannot be guarded. */
async function openGuard(
  { guardSteps }: PreparedCall,
  context: PreconditionContext,
): Promise<StepGuard | CallCompletion | undefined> {
  try {
    return await guardSteps?.(context);
  } catch (thrown) {
    if (thrown instanceof ToolFailure) return failCall(`Nothing was changed. ${thrown.message}`, 'precondition');
    throw thrown;
  }
}

/** Prepares all steps; nothing is made if one of them is not possible in principle. */
function prepareSteps(
  block: ToolUseBlock,
  { steps = [] }: PreparedCall,
  tools: readonly Tool[],
): readonly Step[] | CallCompletion {
  const prepared: Step[] = [];
  for (const { tool: name, input, isFollowing = false } of steps) {
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool === undefined)
      return failCall(`Nothing was changed: it takes ${name}, which is not available here.`, 'unknown_tool');
    const stepBlock = { ...block, name: tool.name, input };
    const call = prepareCall(stepBlock, tool);
    if (!call.ok) return failCall(`Nothing was changed. ${call.problem}`, 'invalid_input');
    const { checkPreconditions: _, ...unchecked } = call.call;
    // Files changed by an earlier step cannot be checked before it.
    prepared.push({ block: stepBlock, tool, call: isFollowing ? unchecked : call.call });
  }
  return prepared.length === 0 ? failCall('Nothing was changed: the call has no parts.', 'invalid_input') : prepared;
}

async function combine(
  steps: readonly Step[],
  ends: readonly CallCompletion[],
  guard: StepGuard | undefined,
): Promise<CallCompletion> {
  const last = ends.at(-1) ?? skipCall();
  if (steps.length === 1) return last;
  const attachments = ends.flatMap((end) => end.attachments);
  if (last.status === 'done') return { ...addLines(last, [], ends.slice(0, -1)), attachments };
  if (guard !== undefined) return { ...addLines(last, [await undoSteps(guard)]), attachments };
  const skipped = steps.slice(ends.length).map(({ call }) => call.title);
  const notes = skipped.length === 0 ? [] : [`Not done, because an earlier part failed: ${skipped.join(', ')}.`];
  return { ...addLines(last, notes, ends.slice(0, -1)), attachments };
}

async function undoSteps(guard: StepGuard): Promise<string> {
  try {
    const changed = await guard.restore();
    return changed.length === 0
      ? 'All earlier parts of the call were undone: nothing is changed.'
      : `The earlier parts of the call were undone, except in ${changed.join(', ')}, which changed meanwhile.`;
  } catch (thrown) {
    return `The earlier parts of the call could not all be undone: ${getErrorMessage(thrown)} Read the files again.`;
  }
}

/** Adds lines after the text of a result, and the texts of earlier steps before it. */
function addLines(
  end: CallCompletion,
  lines: readonly string[],
  earlier: readonly CallCompletion[] = [],
): CallCompletion {
  const { structured: _, ...outcome } = end.outcome;
  const texts = [...earlier.map((step) => toText(step.outcome)), toText(outcome), ...lines];
  return { ...end, outcome: { ...outcome, content: texts.join('\n') } };
}

function toText({ content }: ToolOutcome): string {
  if (typeof content === 'string') return content;
  return joinTextBlocks(content, '\n');
}
