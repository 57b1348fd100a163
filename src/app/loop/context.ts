import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSummarize, type SummarizeParts } from '../../agent/summarize.ts';
import { createContext } from '../../context/create-context.ts';
import type { ContextDecision } from '../../context/decisions.ts';
import type { LevelRun } from '../../context/levels/pipeline.ts';
import { promptTokens } from '../../context/tokens.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Live, LiveState } from '../../contracts/live.ts';
import type { Message, Usage } from '../../contracts/message.ts';
import type { ModelInfo, ModelPort, SystemPart, ToolSpec } from '../../contracts/model.ts';
import type { ContextPort } from '../../contracts/query.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { Tool } from '../../contracts/tool.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { loopHooks } from '../../hooks/loop-hooks.ts';
import { thinkingEffort } from '../../model/efforts.ts';
import { DEFAULT_MAX_RESULT_CHARS } from '../../tools/build-tool.ts';
import { keptResultPath } from '../../tools/cap-result.ts';
import type { ReadState } from '../../tools/read-state.ts';
import { toolNamed } from '../../tools/statements.ts';

/** Who asks on the side looks at a screen that says nothing meanwhile. */
const ASIDE_RETRIES = 2;

export type ContextWiring = {
  readonly live: LiveState;
  /** A model, then those that go on when it cannot be had. */
  readonly chain: (model: string) => readonly [string, ...string[]];
  readonly settings: () => Pick<Settings, 'autoCompactPercent'>;
  /** Another model than that of the conversation. */
  readonly model?: () => string;
  readonly infoOf: (model: string) => ModelInfo;
  readonly port: ModelPort;
  readonly system: () => readonly SystemPart[];
  readonly specs: () => readonly ToolSpec[];
  readonly tools: () => readonly Tool[];
  readonly readState: ReadState;
  readonly folder: string;
  readonly hooks: Hooks;
  readonly plan: () => string | undefined;
  readonly onUsage: (model: string, usage: Usage) => void;
  readonly onLevel: (run: LevelRun) => void;
  /** A summary that has to be asked for again is told like any other request. */
  readonly tell: (event: AgentEvent) => void;
  readonly remember: (decision: ContextDecision) => void;
  readonly newId: () => string;
};

/** The context pipeline with a real store for big results and a real model for summaries. */
export function makeContext(wiring: ContextWiring) {
  const { live, readState, hooks } = wiring;
  const placeOf = (callId: string) => keptResultPath(join(wiring.folder, 'results'), callId);
  const store = makeStore(placeOf);
  const model = wiring.model ?? (() => live.now().model);
  const asked = {
    ...wiring,
    chain: () => wiring.chain(model()),
    thinking: () => thinkingOf(live.now()),
  };
  const onTry: SummarizeParts['onTry'] = (tried, by) => {
    wiring.tell(tried.type === 'retry' ? tried : { ...tried, model: by });
    if (tried.type === 'request_sent') wiring.tell({ type: 'status', status: 'compacting' });
  };
  const onSwitch = (to: string, cause: string) =>
    wiring.tell({
      type: 'notice',
      level: 'warn',
      topic: 'fallback',
      text: `Switched to ${to} for the summary: ${cause}`,
    });
  const summarize = makeSummarize({ ...asked, onTry, onSwitch });
  const answer = makeSummarize({ ...asked, maxRetries: ASIDE_RETRIES });
  const context = createContext({
    toolNamed,
    model,
    modelInfo: wiring.infoOf,
    overheadTokens: () => promptTokens(wiring.system(), wiring.specs()),
    limitChars: limitsOf(wiring.tools),
    store,
    storedAt: (callId) => (existsSync(placeOf(callId)) ? placeOf(callId) : undefined),
    summarize,
    carried: () => {
      const files = readState.files();
      const plan = wiring.plan();
      return {
        todos: live.now().todos.map((todo) => `[${todo.status}] ${todo.content}`),
        filesRead: files.filter((file) => !file.changed).map((file) => file.path),
        filesChanged: files.filter((file) => file.changed).map((file) => file.path),
        skills: [],
        ...(plan === undefined ? {} : { plan }),
      };
    },
    beforeCompact: loopHooks(hooks, 'Stop').beforeCompact,
    forgetReads: () => readState.forgetShown(),
    onLevel: wiring.onLevel,
    remember: wiring.remember,
    compactAtPercent: () => wiring.settings().autoCompactPercent,
    newId: wiring.newId,
  });
  return {
    ...context,
    /** Asks about the conversation without a trace in it; what was sent before serves from the cache. */
    async aside(messages: readonly Message[], question: string, signal: AbortSignal) {
      const { view, tokens } = await context.prepare(messages);
      return answer(view, { instructions: question, sentTokens: tokens }, signal);
    },
  };
}

/** Asked for every result in every turn, so what is known once is not looked up again. */
function limitsOf(tools: () => readonly Tool[]): (name: string) => number {
  const known = new Map<string, number>();
  return (name) => {
    const limit = known.get(name) ?? tools().find((tool) => tool.name === name)?.maxResultChars;
    if (limit !== undefined) known.set(name, limit);
    return limit ?? DEFAULT_MAX_RESULT_CHARS;
  };
}

/** What a sub-agent sends besides its messages. */
export type AgentContext = {
  readonly model: string;
  readonly system: readonly SystemPart[];
  readonly tools: readonly Tool[];
  readonly reads: ReadState;
};

/** The same for a sub-agent: its own room, and nothing of it is remembered with the session. */
export function contextOfAgent(wiring: ContextWiring, agent: AgentContext): ContextPort {
  return makeContext({
    ...wiring,
    model: () => agent.model,
    system: () => agent.system,
    specs: () => agent.tools.map(({ spec }) => spec),
    tools: () => agent.tools,
    readState: agent.reads,
    onLevel: () => undefined,
    tell: () => undefined,
    remember: () => undefined,
  });
}

function thinkingOf({ effort, thinkingTokens }: Live) {
  return { effort: thinkingEffort(effort, thinkingTokens), thinkingBudgetTokens: thinkingTokens };
}

/** Keeps a result whole beside the session. What cannot be kept is said by answering nothing. */
function makeStore(placeOf: (callId: string) => string) {
  return async (callId: string, text: string): Promise<string | undefined> => {
    const path = placeOf(callId);
    try {
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      await writeFile(path, text, { mode: 0o600 });
      return path;
    } catch {
      return undefined;
    }
  };
}
