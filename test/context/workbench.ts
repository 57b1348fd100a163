import type { CarriedFacts } from '../../src/context/compaction/summary.ts';
import { type Context, type ContextParts, createContext } from '../../src/context/create-context.ts';
import type { LevelRun } from '../../src/context/reduction/reduction-pipeline.ts';
import type { Message, UserMessage } from '../../src/contracts/message.ts';
import type { ModelInfo } from '../../src/contracts/model.ts';
import { toRequestMessages } from '../../src/engine/request/build-model-request.ts';
import { repairMessages } from '../../src/engine/request/repair-messages.ts';
import { findBuiltInToolTraits } from '../../src/tools/tool-traits.ts';

export const INFO: ModelInfo = {
  id: 'model-a',
  label: 'Model A',
  contextWindow: 200_000,
  defaultOutputTokens: 8_000,
  maxOutputTokens: 64_000,
  thinking: 'none',
  effort: false,
  efforts: [],
  thinkingOff: 'silence',
  vision: true,
  promptCache: true,
  webSearch: false,
};

export const NOTHING: CarriedFacts = { todos: [], filesRead: [], filesChanged: [], skills: [] };

export type Bench = {
  readonly context: Context;
  readonly runs: LevelRun[];
  readonly asked: { readonly messages: readonly Message[]; readonly instructions: string }[];
  readonly stored: Map<string, string>;
};

/** A context whose surroundings are simple and honest; `over` replaces any of them. */
export function bench(over: Partial<ContextParts> = {}): Bench {
  const runs: LevelRun[] = [];
  const asked: Bench['asked'] = [];
  const stored = new Map<string, string>();
  let ids = 0;
  const context = createContext({
    toolNamed: findBuiltInToolTraits,
    model: () => 'model-a',
    modelInfo: () => INFO,
    overheadTokens: () => 5_000,
    limitChars: () => 30_000,
    store: async (callId, text) => {
      stored.set(callId, text);
      return `/results/${callId}.txt`;
    },
    storedAt: (callId) => (stored.has(callId) ? `/results/${callId}.txt` : undefined),
    summarize: async (messages, { instructions }) => {
      asked.push({ messages, instructions });
      return { ok: true, text: '<summary>We worked on it.</summary>' };
    },
    carried: () => NOTHING,
    onLevel: (run) => runs.push(run),
    newId: () => {
      ids += 1;
      return `new${ids}`;
    },
    ...over,
  });
  return { context, runs, asked, stored };
}

export function prompt(id: string, text: string, more: Partial<UserMessage> = {}): Message {
  return { role: 'user', id, origin: 'prompt', blocks: [{ type: 'text', text }], ...more };
}

export function says(id: string, text: string): Message {
  return { role: 'assistant', id, model: 'model-a', blocks: [{ type: 'text', text }] };
}

export type Call = { readonly name: string; readonly input: Record<string, string | number>; readonly result: string };

/** A reply that makes calls, and the message that answers them. */
export function exchange(id: string, calls: readonly Call[]): readonly Message[] {
  return [
    {
      role: 'assistant',
      id,
      model: 'model-a',
      blocks: calls.map((call, index) => ({
        type: 'tool_use',
        id: `${id}-${index}`,
        name: call.name,
        input: call.input,
      })),
    },
    {
      role: 'user',
      id: `${id}-results`,
      origin: 'results',
      blocks: calls.map((call, index) => ({
        type: 'tool_result',
        tool_use_id: `${id}-${index}`,
        content: call.result,
      })),
    },
  ];
}

export const reads = (id: string, file: string, result: string) =>
  exchange(id, [{ name: 'Read', input: { file_path: file }, result }]);

/** The bytes of each message of the request, as it would be sent. */
export function sentBytes(view: readonly Message[]): readonly string[] {
  return repairMessages(toRequestMessages(view)).map((message) => JSON.stringify(message));
}

export const words = (count: number, seed = 'word') =>
  `${seed} `.repeat(Math.ceil(count / (seed.length + 1))).slice(0, count);
export const NEVER = new AbortController().signal;
