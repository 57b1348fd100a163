import { type Context, type ContextParts, createContext } from '../context/create-context.ts';
import { estimateSystemPromptTokens } from '../context/token-estimate.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { CompactionResult, Summarize } from '../contracts/query.ts';
import type { Tool } from '../contracts/tool.ts';
import { resolveUndefinedOnAbort } from '../lib/promises.ts';
import { DEFAULT_MAX_RESULT_CHARS } from '../tools/definition/build-tool.ts';
import type { AgentPort } from './agent-deps.ts';
import { createSummarizer, type SummarizerDeps } from './summarize.ts';

/** Retries of a side question: the user waits without any progress display. */
const SIDE_QUESTION_RETRIES = 2;

/** The dependencies of the context of an agent: what its requests contain, and the model that summarizes them. */
export type AgentContextDeps = Omit<ContextParts, 'modelInfo' | 'overheadTokens' | 'limitChars' | 'summarize'> &
  Omit<SummarizerDeps, 'chain' | 'onRetry' | 'onFallback' | 'maxRetries'> & {
    /** Returns a model and its fallbacks. */
    readonly chain: (model: string) => readonly [string, ...string[]];
    readonly tools: () => readonly Tool[];
    /** Emits events about summaries: retries, requests and fallbacks. */
    readonly emit?: (event: AgentEvent) => void;
    /** Transforms the messages of the request for a summary. */
    readonly transformMessages?: (messages: readonly Message[]) => Promise<readonly Message[]>;
  };

/** The context of an agent, which also answers questions beside the conversation. */
export type AgentContext = Context & {
  /** Asks a question about the conversation without adding to it. The request reuses the prompt cache. */
  askSideQuestion(messages: readonly Message[], question: string, signal: AbortSignal): ReturnType<Summarize>;
};

/** Creates the context pipeline of a conversation, a sub-agent, or the agent of an application. */
export function createAgentContext(deps: AgentContextDeps): AgentContext {
  const { emit = () => undefined, transformMessages = async (messages) => messages } = deps;
  const summaryDeps = { ...deps, chain: () => deps.chain(deps.model()) };
  const summarize = createSummarizer({
    ...summaryDeps,
    onRetry(event, by) {
      emit(event.type === 'retry' ? event : { ...event, model: by });
      if (event.type === 'request_sent') emit({ type: 'status', status: 'compacting' });
    },
    onFallback: (to, cause) =>
      emit({
        type: 'notice',
        level: 'warn',
        topic: 'fallback',
        text: `Switched to ${to} for the summary: ${cause}`,
      }),
  });
  const answerQuestion = createSummarizer({ ...summaryDeps, maxRetries: SIDE_QUESTION_RETRIES });
  const context = createContext({
    ...deps,
    modelInfo: deps.getModelInfo,
    overheadTokens: () => estimateSystemPromptTokens(deps.system(), deps.listSpecs()),
    limitChars: createLimitLookup(deps.tools),
    summarize: async (messages, ...order) => summarize(await transformMessages(messages), ...order),
  });
  return {
    ...context,
    async askSideQuestion(messages, question, signal) {
      const { view, tokens } = await context.prepare(messages);
      return answerQuestion(view, { instructions: question, sentTokens: tokens }, signal);
    },
  };
}

/** Creates a cached lookup of result limits, which is used for every result in every turn. */
function createLimitLookup(listTools: () => readonly Tool[]): (name: string) => number {
  const limits = new Map<string, number>();
  let known: readonly Tool[] = [];
  return (name) => {
    const tools = listTools();
    if (tools !== known)
      for (const { name: toolName, aliases, maxResultChars } of tools)
        for (const one of [...aliases, toolName]) limits.set(one, maxResultChars);
    known = tools;
    return limits.get(name) ?? DEFAULT_MAX_RESULT_CHARS;
  };
}

/** Waits for a compaction and emits its result, which replaces the conversation. `undefined` if it was stopped first. */
export async function applyCompaction(
  compacting: Promise<CompactionResult>,
  emit: AgentPort['emit'],
  signal: AbortSignal,
): Promise<CompactionResult | undefined> {
  const result = await resolveUndefinedOnAbort(compacting, signal);
  const boundary = result?.ok === true ? result.messages.find((message) => message.role === 'boundary') : undefined;
  if (result?.ok === true && boundary !== undefined)
    await emit({ type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens });
  return result;
}
