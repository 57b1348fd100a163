import type { AgentPort } from '../../agent/parts.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import type { AfterCall, BeforeCall, QueryDeps } from '../../contracts/query.ts';
import type { CallRequest, GateVerdict, ToolOutcome } from '../../contracts/tool.ts';
import { toRequestMessages } from '../../engine/request.ts';
import { messageOf } from '../../lib/errors.ts';
import type { AgentOptions, ResultOpinion } from './options.ts';

type Opinions = Partial<
  Pick<
    QueryDeps,
    | 'gate'
    | 'ask'
    | 'onStop'
    | 'beforeCall'
    | 'afterCall'
    | 'transformRequest'
    | 'toRequestMessages'
    | 'shouldStopAfterTurn'
  >
>;

/** What the application thinks of calls, results, requests and turns, in the words of the loop. */
export function opinions(options: AgentOptions, port: AgentPort, isHeard: () => boolean): Opinions {
  const { hooks, beforeToolCall, afterToolCall, onPayload, shouldStopAfterTurn, onQuestion } = options;
  return {
    gate: (call, hint, signal) => gate(call, hint, signal, options.onPermission ?? askedOf(port, isHeard)),
    ask(callId, question, signal) {
      if (onQuestion !== undefined) return onQuestion(question, signal);
      return isHeard() ? port.ask(callId, question, signal) : Promise.resolve(undefined);
    },
    ...(hooks || beforeToolCall ? { beforeCall: (call, signal) => before(options, call, signal) } : {}),
    ...(hooks || afterToolCall
      ? {
          afterCall: (call, outcome, durationMs, signal) => after(options, { call, outcome, durationMs }, signal, port),
        }
      : {}),
    ...(hooks && { onStop: hooks.onStop }),
    ...(onPayload && { transformRequest: (request) => onPayload(request) ?? request }),
    toRequestMessages: seenByModel(options),
    ...(shouldStopAfterTurn && { shouldStopAfterTurn: ({ messages }) => shouldStopAfterTurn(messages) }),
  };
}

/** Hooks are asked first; what they let through is asked of the application, with the input they made of it. */
async function before(
  { hooks, beforeToolCall }: AgentOptions,
  call: CallRequest,
  signal: AbortSignal,
): Promise<BeforeCall> {
  const hooked = (await hooks?.beforeCall(call, signal)) ?? {};
  if (hooked.deny !== undefined || hooked.stop !== undefined) return hooked;
  const seen = hooked.input === undefined ? call : { ...call, input: hooked.input };
  const { block, input, ask, endRun } = (await beforeToolCall?.(seen, signal)) ?? {};
  return {
    ...hooked,
    ...(block === undefined ? {} : { deny: block }),
    ...(input === undefined ? {} : { input }),
    ...(ask === undefined ? {} : { ask }),
    ...(endRun === undefined ? {} : { stop: endRun }),
  };
}

type Ended = { readonly call: CallRequest; readonly outcome: ToolOutcome; readonly durationMs: number };

/** The application has the first look at a result: what it takes out no hook is shown. */
async function after(
  { hooks, afterToolCall }: AgentOptions,
  { call, outcome: result, durationMs }: Ended,
  signal: AbortSignal,
  { tell }: Pick<AgentPort, 'tell'>,
): Promise<AfterCall> {
  const looked = async () => (await afterToolCall?.(call, result, signal)) ?? {};
  const { outcome, add, endRun } = await looked().catch(async (thrown): Promise<ResultOpinion> => {
    await tell({ type: 'notice', level: 'error', text: `afterToolCall failed for ${call.tool}: ${messageOf(thrown)}` });
    return { outcome: withheld(call.tool) };
  });
  const hooked = (await hooks?.afterCall(call, outcome ?? result, durationMs, signal)) ?? {};
  const context = [add, hooked.context].filter((words) => words !== undefined);
  return {
    ...hooked,
    ...(outcome === undefined ? {} : { outcome }),
    ...(context.length === 0 ? {} : { context: context.join('\n\n') }),
    ...(endRun === undefined ? {} : { stop: endRun }),
  };
}

/** Nobody has looked at what may hold what must not be seen, so nobody sees it. */
function withheld(tool: string): ToolOutcome {
  const text = `The result of ${tool} is withheld: the check of results failed.`;
  return { content: text, isError: true, display: { kind: 'text', text } };
}

/** What the model sees of the conversation. */
export function seenByModel({ convertToLlm }: Pick<AgentOptions, 'convertToLlm'>): QueryDeps['toRequestMessages'] {
  return convertToLlm === undefined ? toRequestMessages : (messages) => toRequestMessages(convertToLlm(messages));
}

/** The tools are the application's own, so their calls run; what `beforeToolCall` wants asked is asked. */
async function gate(
  call: CallRequest,
  { ask }: BeforeCall,
  signal: AbortSignal,
  answerTo: AgentPort['askPermission'],
): Promise<GateVerdict> {
  if (ask === undefined) return { behavior: 'allow', input: call.input };
  const request = questionAbout(call, ask);
  const answer = await answerTo(request, signal);
  if (answer.behavior === 'allow') return { behavior: 'allow', input: answer.updatedInput ?? call.input };
  const { message = `${call.tool} was not allowed.`, interrupt = false } = answer;
  return { behavior: 'deny', message, interrupt };
}

/** A question nobody hears would wait for ever. */
function askedOf(port: AgentPort, isHeard: () => boolean): AgentPort['askPermission'] {
  return async (request, signal) =>
    isHeard()
      ? port.askPermission(request, signal)
      : { behavior: 'deny', message: `${request.toolName} was not allowed: nobody is there to be asked.` };
}

function questionAbout({ callId, tool, title, input }: CallRequest, why: string): PermissionRequest {
  return {
    id: `ask-${callId}`,
    callId,
    toolName: tool,
    title,
    facts: { tool, input, kind: 'other' },
    reasons: [why],
    targets: [],
    suggestions: [],
    trace: [],
    danger: 'none',
    concealed: 'none',
  };
}
