import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSummarizer, type SummarizerDeps } from '../../agent/summarize.ts';
import { type CompactPreview, type Context, createContext } from '../../context/create-context.ts';
import type { LevelRun } from '../../context/reduction/reduction-pipeline.ts';
import type { ContextDecision } from '../../context/reduction-log.ts';
import { estimateSystemPromptTokens } from '../../context/token-estimate.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { SlashCommandOutcome } from '../../contracts/frontend/command.ts';
import type { BoundaryMessage, Message, Usage } from '../../contracts/message.ts';
import type { ModelInfo, ModelPort, SystemPart, ToolSpec } from '../../contracts/model.ts';
import type { ContextPort } from '../../contracts/query.ts';
import type { LiveSessionState, LiveSessionValues } from '../../contracts/session-core.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { Tool } from '../../contracts/tool.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { createLoopHooks } from '../../hooks/loop-hooks.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { formatCount, formatTokens } from '../../lib/text/format.ts';
import { deriveEffortFromThinkingBudget } from '../../model/efforts.ts';
import { type CurrentSessionState, describeCurrentSessionState } from '../../prompt/current-session-state.ts';
import { getStoredResultPath } from '../../tools/cap-result.ts';
import { DEFAULT_MAX_RESULT_CHARS } from '../../tools/definition/build-tool.ts';
import type { FileReadState } from '../../tools/files/file-read-state.ts';
import { findBuiltInToolTraits } from '../../tools/tool-traits.ts';
import type { Core } from '../core.ts';

/** Retries of a side question: the user waits without any progress display. */
const SIDE_QUESTION_RETRIES = 2;

/** The dependencies of a context pipeline. */
export type ContextPipelineDeps = {
  readonly live: LiveSessionState;
  /** Returns a model and its fallbacks. */
  readonly chain: (model: string) => readonly [string, ...string[]];
  readonly settings: () => Pick<Settings, 'autoCompactPercent'>;
  /** Model, if it is not that of the conversation. */
  readonly model?: () => string;
  readonly getModelInfo: (model: string) => ModelInfo;
  readonly port: ModelPort;
  readonly system: () => readonly SystemPart[];
  readonly listSpecs: () => readonly ToolSpec[];
  readonly tools: () => readonly Tool[];
  readonly readState: FileReadState;
  readonly folder: string;
  readonly hooks: Hooks;
  readonly plan: () => string | undefined;
  /** Returns the present state of the session, which a compaction states anew. */
  readonly getState: () => CurrentSessionState | undefined;
  readonly onUsage: (model: string, usage: Usage) => void;
  readonly onLevel: (run: LevelRun) => void;
  /** Emits events about summaries: retries and requests. */
  readonly emit: (event: AgentEvent) => void;
  readonly recordDecision: (decision: ContextDecision) => void;
  readonly newId: () => string;
};

/** Creates the context pipeline, with a store for large results and a model for summaries. */
export function createContextPipeline(wiring: ContextPipelineDeps) {
  const { live, readState, hooks } = wiring;
  const resolveResultPath = (callId: string) => getStoredResultPath(join(wiring.folder, 'results'), callId);
  const store = createResultStore(resolveResultPath);
  const model = wiring.model ?? (() => live.current().model);
  const summaryDeps = {
    ...wiring,
    chain: () => wiring.chain(model()),
    thinking: () => resolveThinking(live.current()),
  };
  const onRetry: SummarizerDeps['onRetry'] = (event, by) => {
    wiring.emit(event.type === 'retry' ? event : { ...event, model: by });
    if (event.type === 'request_sent') wiring.emit({ type: 'status', status: 'compacting' });
  };
  const onFallback = (to: string, cause: string) =>
    wiring.emit({
      type: 'notice',
      level: 'warn',
      topic: 'fallback',
      text: `Switched to ${to} for the summary: ${cause}`,
    });
  const summarize = createSummarizer({ ...summaryDeps, onRetry, onFallback });
  const answerQuestion = createSummarizer({ ...summaryDeps, maxRetries: SIDE_QUESTION_RETRIES });
  const context = createContext({
    toolNamed: findBuiltInToolTraits,
    model,
    modelInfo: wiring.getModelInfo,
    overheadTokens: () => estimateSystemPromptTokens(wiring.system(), wiring.listSpecs()),
    limitChars: createLimitLookup(wiring.tools),
    store,
    storedAt: (callId) => (existsSync(resolveResultPath(callId)) ? resolveResultPath(callId) : undefined),
    summarize,
    carried: () => {
      const files = readState.listFiles();
      const plan = wiring.plan();
      return {
        todos: live.current().todos.map((todo) => `[${todo.status}] ${todo.content}`),
        filesRead: files.filter((file) => !file.changed).map((file) => file.path),
        filesChanged: files.filter((file) => file.changed).map((file) => file.path),
        skills: [],
        state: describeCurrentSessionState(wiring.getState()),
        ...(plan === undefined ? {} : { plan }),
      };
    },
    beforeCompact: createLoopHooks(hooks, 'Stop').beforeCompact,
    onLevel: wiring.onLevel,
    remember: wiring.recordDecision,
    compactAtPercent: () => wiring.settings().autoCompactPercent,
    newId: wiring.newId,
  });
  return {
    ...context,
    /** Asks a question about the conversation without adding to it. The request reuses the prompt cache. */
    async askSideQuestion(messages: readonly Message[], question: string, signal: AbortSignal) {
      const { view, tokens } = await context.prepare(messages);
      return answerQuestion(view, { instructions: question, sentTokens: tokens }, signal);
    },
  };
}

/** Creates a cached lookup of result limits, which is used for every result in every turn. */
function createLimitLookup(tools: () => readonly Tool[]): (name: string) => number {
  const known = new Map<string, number>();
  return (name) => {
    const limit = known.get(name) ?? tools().find((tool) => tool.name === name)?.maxResultChars;
    if (limit !== undefined) known.set(name, limit);
    return limit ?? DEFAULT_MAX_RESULT_CHARS;
  };
}

/** The request parts of a sub-agent besides its messages. */
export type SubAgentRequestParts = {
  readonly model: string;
  readonly system: readonly SystemPart[];
  readonly tools: readonly Tool[];
  readonly readState: FileReadState;
};

/** Creates the context pipeline of a sub-agent. Its decisions are not recorded in the session. */
export function createSubAgentContextPipeline(wiring: ContextPipelineDeps, agent: SubAgentRequestParts): ContextPort {
  return createContextPipeline({
    ...wiring,
    model: () => agent.model,
    system: () => agent.system,
    listSpecs: () => agent.tools.map(({ spec }) => spec),
    tools: () => agent.tools,
    readState: agent.readState,
    onLevel: () => undefined,
    emit: () => undefined,
    recordDecision: () => undefined,
    // The state of the conversation is not that of a sub-agent.
    getState: () => undefined,
  });
}

function resolveThinking({ effort, thinkingTokens }: LiveSessionValues) {
  return { effort: deriveEffortFromThinkingBudget(effort, thinkingTokens), thinkingBudgetTokens: thinkingTokens };
}

/** Creates the store for full results beside the session. It returns `undefined` if a result cannot be written. */
function createResultStore(resolveResultPath: (callId: string) => string) {
  return async (callId: string, text: string): Promise<string | undefined> => {
    const path = resolveResultPath(callId);
    try {
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      await writeFile(path, text, { mode: 0o600 });
      return path;
    } catch {
      return undefined;
    }
  };
}

/** Formats the preview of `/compact preview`: the messages that would stay, and those that would be summarized. */
export function formatCompactPreview(preview: CompactPreview): string {
  const { carried, pins } = preview;
  const counts = [
    [carried.filesChanged.length, 'changed files'],
    [carried.filesRead.length, 'read files'],
    [carried.todos.length, 'to-dos'],
    [carried.skills.length, 'skills'],
    [carried.plan === undefined ? 0 : 1, 'plan'],
  ] as const;
  const carriedItems = counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return [
    `The context has about ${formatTokens(preview.preTokens)} tokens.`,
    `- ${formatCount(preview.keptMessages, 'message')} would stay unchanged (${formatTokens(preview.keptTokens)} tokens with the rest of the request).`,
    `- ${formatCount(preview.summarizedMessages, 'message')} would be summarized.`,
    ...(carriedItems.length === 0 ? [] : [`- Always carried over: ${carriedItems.join(', ')}.`]),
    ...pins.map((pin) => `- Pinned: ${pin}`),
  ].join('\n');
}

type ManualCompactDeps = { readonly agent: Agent; readonly context: Context };

/** Creates the compaction commands `/compact` and `/clear`, which run between turns. */
export function createManualCompaction({ bus: { emit }, newId }: Core, { agent, context }: ManualCompactDeps) {
  return {
    /** Compacts the conversation now, with an optional focus for the summary. */
    async compactNow(focus: string | undefined): Promise<SlashCommandOutcome> {
      const messages = agent.state().messages;
      if (messages.length === 0) return { kind: 'failed', message: 'There is nothing to compact yet.' };
      const order = { trigger: 'manual' as const, ...(focus === undefined ? {} : { focus }) };
      return agent.runExclusive('compacting', async (signal): Promise<SlashCommandOutcome> => {
        const result = await resolveUndefinedOnAbort(context.compactWith(messages, order, signal), signal);
        if (result?.ok !== true && signal.aborted)
          return { kind: 'failed', message: 'Compaction stopped. The conversation is unchanged.' };
        if (result?.ok !== true)
          return { kind: 'failed', message: `Not compacted: ${result?.why ?? 'it was stopped'}` };
        const boundary = result.messages.find((message) => message.role === 'boundary');
        if (boundary !== undefined)
          await emit({ type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens });
        return {
          kind: 'done',
          message: `Compacted: ${formatTokens(result.preTokens)} → ${formatTokens(result.postTokens)} tokens. The full history stays in the session.`,
        };
      });
    },
    /** Replaces the messages of the conversation. The session file keeps the old ones. */
    async replace(messages: readonly Message[], trigger: BoundaryMessage['trigger']) {
      const boundary: BoundaryMessage = { role: 'boundary', id: newId(), trigger, preTokens: context.tokens() };
      await emit({ type: 'compacted', boundary, messages: [boundary, ...messages], postTokens: 0 });
    },
  };
}
