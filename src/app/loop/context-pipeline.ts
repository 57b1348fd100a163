import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentContext,
  type AgentContextDeps,
  applyCompaction,
  createAgentContext,
} from '../../agent/agent-context.ts';
import type { CompactPreview, Context } from '../../context/create-context.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { SlashCommandOutcome } from '../../contracts/frontend/command.ts';
import type { BoundaryMessage, Message } from '../../contracts/message.ts';
import type { SystemPart } from '../../contracts/model.ts';
import type { ContextPort } from '../../contracts/query.ts';
import type { LiveSessionValues } from '../../contracts/session-core.ts';
import type { Tool } from '../../contracts/tool.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { createLoopHooks } from '../../hooks/loop-hooks.ts';
import { omitUndefined } from '../../lib/json.ts';
import { formatCount, formatTokens } from '../../lib/text/format.ts';
import { deriveEffortFromThinkingBudget } from '../../model/efforts.ts';
import { type CurrentSessionState, describeCurrentSessionState } from '../../prompt/current-session-state.ts';
import { getStoredResultPath } from '../../tools/cap-result.ts';
import type { FileReadState } from '../../tools/files/file-read-state.ts';
import { findBuiltInToolTraits } from '../../tools/tool-traits.ts';
import type { Core } from '../core.ts';

/** The requests of the conversation or of a sub-agent, which its context keeps within the window. */
export type ContextRequests = {
  readonly model: () => string;
  readonly system: () => readonly SystemPart[];
  readonly tools: () => readonly Tool[];
  readonly listSpecs: AgentContextDeps['listSpecs'];
  readonly readState: FileReadState;
};

/** The parts that all context pipelines of a conversation use. */
export type ContextPipelineDeps = {
  readonly chain: AgentContextDeps['chain'];
  readonly hooks: Hooks;
  /** Folder of the session, where large results are stored. */
  readonly folder: string;
};

/** The reports of the pipeline of a conversation; a sub-agent has none, so its decisions are not recorded. */
type ContextReports = Pick<AgentContextDeps, 'onLevel' | 'remember' | 'emit'> & {
  /** Returns the present state of the session, which a compaction states anew. */
  readonly getState: () => CurrentSessionState;
};

/** Creates a context pipeline, with a store for large results and what a summary carries over. */
export function createContextPipeline(
  { live, settings, model, meter, newId }: Core,
  { chain, hooks, folder }: ContextPipelineDeps,
  { readState, ...requests }: ContextRequests,
  { getState, ...reports }: Partial<ContextReports> = {},
): AgentContext {
  const resolveResultPath = (callId: string) => getStoredResultPath(join(folder, 'results'), callId);
  return createAgentContext({
    ...requests,
    ...reports,
    chain,
    getModelInfo: model.infoOf,
    port: model.port,
    onUsage: meter.addReply,
    toolNamed: findBuiltInToolTraits,
    store: createResultStore(resolveResultPath),
    storedAt: (callId) => (existsSync(resolveResultPath(callId)) ? resolveResultPath(callId) : undefined),
    carried: () => {
      const { todos, plan } = live.current();
      const files = readState.listFiles();
      return {
        todos: todos.map((todo) => `[${todo.status}] ${todo.content}`),
        filesRead: files.filter((file) => !file.changed).map((file) => file.path),
        filesChanged: files.filter((file) => file.changed).map((file) => file.path),
        skills: [],
        state: describeCurrentSessionState(getState?.()),
        ...omitUndefined({ plan }),
      };
    },
    thinking: () => resolveThinking(live.current()),
    compactAtPercent: () => settings.current().autoCompactPercent,
    beforeCompact: createLoopHooks(hooks, 'Stop').beforeCompact,
    newId,
  });
}

/** Creates the context pipeline of a sub-agent from its requests. */
export type CreateSubAgentContext = (requests: ContextRequests) => ContextPort;

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
        const result = await applyCompaction(context.compactWith(messages, order, signal), emit, signal);
        if (result?.ok !== true && signal.aborted)
          return { kind: 'failed', message: 'Compaction stopped. The conversation is unchanged.' };
        if (result?.ok !== true)
          return { kind: 'failed', message: `Not compacted: ${result?.why ?? 'it was stopped'}` };
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
