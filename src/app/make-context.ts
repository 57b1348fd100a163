import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createContext } from '../context/create-context.ts';
import type { Decision } from '../context/decisions.ts';
import type { LevelRun } from '../context/pipeline.ts';
import type { Usage } from '../contracts/message.ts';
import type { ModelInfo, ModelPort, SystemPart, ToolSpec } from '../contracts/model.ts';
import type { Tool, ToolOutcome } from '../contracts/tool.ts';
import type { Hooks } from '../hooks/create-hooks.ts';
import type { createReadState } from '../tools/read-state.ts';
import type { LiveState } from './live-state.ts';
import { makeSummarize } from './summarize.ts';

const CHARS_PER_TOKEN = 3.5;
const DEFAULT_LIMIT_CHARS = 30_000;

export type ContextWiring = {
  readonly live: LiveState;
  readonly infoOf: (model: string) => ModelInfo;
  readonly port: ModelPort;
  readonly system: () => readonly SystemPart[];
  readonly specs: () => readonly ToolSpec[];
  readonly tools: () => readonly Tool[];
  readonly readState: ReturnType<typeof createReadState>;
  readonly folder: string;
  readonly hooks: Hooks;
  readonly plan: () => string | undefined;
  readonly onUsage: (model: string, usage: Usage) => void;
  readonly onLevel: (run: LevelRun) => void;
  readonly remember: (decision: Decision) => void;
  readonly newId: () => string;
};

/** The context pipeline with a real store for big results and a real model for summaries. */
export function makeContext(wiring: ContextWiring) {
  const { live, readState, hooks } = wiring;
  const placeOf = (callId: string) => join(wiring.folder, 'results', `${callId}.txt`);
  const store = makeStore(placeOf);
  const model = () => live.now().model;
  return createContext({
    model,
    modelInfo: wiring.infoOf,
    overheadTokens: () => overhead(wiring.system(), wiring.specs()),
    limitChars: (name) => wiring.tools().find((tool) => tool.name === name)?.maxResultChars ?? DEFAULT_LIMIT_CHARS,
    store,
    storedAt: (callId) => (existsSync(placeOf(callId)) ? placeOf(callId) : undefined),
    summarize: makeSummarize({ ...wiring, model, effort: () => live.now().effort }),
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
    async beforeCompact({ trigger, focus }, signal) {
      if (!hooks.has('PreCompact')) return { ok: true };
      const fields = { trigger: trigger === 'manual' ? 'manual' : 'auto', custom_instructions: focus ?? '' };
      const verdict = await hooks.fire('PreCompact', fields, signal);
      const why = verdict.blocked ?? verdict.stop;
      if (why !== undefined) return { ok: false, why };
      return verdict.context === undefined ? { ok: true } : { ok: true, focus: verdict.context };
    },
    forgetReads: () => readState.forgetShown(),
    onLevel: wiring.onLevel,
    remember: wiring.remember,
    newId: wiring.newId,
  });
}

function overhead(system: readonly SystemPart[], specs: readonly ToolSpec[]): number {
  return Math.ceil((JSON.stringify(system).length + JSON.stringify(specs).length) / CHARS_PER_TOKEN);
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

const HEAD_CHARS = 4_000;
const TAIL_CHARS = 6_000;

/** A result over its tool's limit becomes its head, its tail and the place of the whole. */
export function makeCap(folder: string) {
  const store = makeStore((callId) => join(folder, 'results', `${callId}.txt`));
  return async (
    { callId }: { readonly callId: string },
    outcome: ToolOutcome,
    maxChars: number,
  ): Promise<ToolOutcome> => {
    const { content } = outcome;
    if (typeof content !== 'string' || content.length <= maxChars) return outcome;
    const path = await store(callId, content);
    const hidden = content.length - HEAD_CHARS - TAIL_CHARS;
    const where = path === undefined ? 'they could not be kept' : `the whole is in ${path}`;
    const head = content.slice(0, HEAD_CHARS).toWellFormed();
    const tail = content.slice(-TAIL_CHARS).toWellFormed();
    return { ...outcome, content: `${head}\n… ${hidden} characters left out here; ${where} …\n${tail}` };
  };
}
