import type { Display, Question } from './display.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ResultBlock } from './message.ts';
import type { ToolSpec } from './model.ts';
import type { ToolStatement } from './permission.ts';

/** Thrown by a tool that could not do it. The model reads the message, so it says what to try next. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** What a tool reports while it runs; only the newest counts. */
export type ToolProgress =
  | {
      readonly kind: 'output';
      readonly tail: readonly string[];
      readonly totalBytes: number;
      readonly elapsedMs: number;
      readonly timeoutMs?: number;
    }
  | { readonly kind: 'note'; readonly text: string }
  | {
      readonly kind: 'agent';
      readonly agentId: string;
      readonly agentType: string;
      readonly line: string;
      readonly calls: number;
      readonly tokens: number;
    };

/** What came of a call: text or blocks for the model, data for people and hosts. */
export type ToolOutcome = {
  readonly content: string | readonly ResultBlock[];
  readonly isError?: boolean;
  readonly display?: Display;
  /** The structured result that hosts read (`tool_use_result`). */
  readonly structured?: JsonValue;
  /** Words for the model that belong behind all results (a loaded skill's text, a reminder). */
  readonly attachment?: string;
  /** The run is over with this call: a structured answer was given, or a plan was refused with words. */
  readonly endsRun?:
    | { readonly reason: 'structured_output'; readonly value: JsonValue }
    | { readonly reason: 'structured_output_failed'; readonly words: string };
};

/** What a call is given. `cwd` is a value; nobody changes the process's own. */
export type CallContext = {
  readonly callId: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly report: (progress: ToolProgress) => void;
  /** Asks the person at the keyboard; resolves with `undefined` when nobody is there, or the question is withdrawn. */
  readonly ask: (question: UserQuestion, withdrawn?: AbortSignal) => Promise<UserAnswer | undefined>;
};

/** A question of a tool: the overlay shows it, the answer comes back by id. */
export type UserQuestion =
  | { readonly kind: 'questions'; readonly questions: readonly Question[] }
  | { readonly kind: 'plan'; readonly plan: string }
  | {
      readonly kind: 'elicitation';
      readonly server: string;
      readonly message: string;
      readonly wants: ElicitationWish;
    };

/** What an MCP server wants of a person: a form filled in, or an address visited. */
export type ElicitationWish =
  | { readonly mode: 'form'; readonly schema: JsonObject }
  | { readonly mode: 'url'; readonly url: string; readonly id: string };

/** What a person answers to a tool. */
export type UserAnswer =
  | { readonly kind: 'questions'; readonly answers: readonly string[] }
  | {
      readonly kind: 'plan';
      readonly verdict: 'accept' | 'accept_edits' | 'keep_planning';
      readonly plan?: string;
      readonly words?: string;
    }
  | {
      readonly kind: 'elicitation';
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly content?: JsonObject;
      /** Why it was not accepted, where no person has decided that. */
      readonly reason?: string;
    };

/** One call whose input passed its schema, bound to its tool. */
export type PreparedCall = {
  /** The validated input: a clone, derived fields included. The transcript keeps the model's own bytes. */
  readonly input: JsonObject;
  readonly title: string;
  readonly isReadOnly: boolean;
  readonly isConcurrencySafe: boolean;
  call(context: CallContext): Promise<ToolOutcome>;
};

/** A tool, closed over its own input type. Built by `buildTool`, which answers cautiously for what is left out. */
export type Tool = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly label: string;
  readonly spec: ToolSpec;
  readonly maxResultChars: number;
  /** Deferred tools are sent by name only until ToolSearch loads them. */
  readonly deferred: boolean;
  readonly source: 'builtin' | 'mcp' | 'host';
  /** What it says of itself to those who decide about its calls and keep their results. */
  readonly statement?: ToolStatement;
  /** The model no longer sees what earlier calls showed it: no answer may point at them. */
  readonly forgetShown?: () => void;
  /** Validates; answers with the sentence the model should read when the input does not fit. */
  prepare(
    input: JsonValue,
  ): { readonly ok: true; readonly call: PreparedCall } | { readonly ok: false; readonly problem: string };
};

/** What a call asks of the gate. */
export type CallRequest = {
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly input: JsonObject;
  readonly cwd: string;
  readonly isReadOnly: boolean;
  readonly agentId?: string;
};

/** The gate's answer; a denial carries the words the model reads. */
export type GateVerdict =
  | { readonly behavior: 'allow'; readonly input: JsonObject; readonly note?: string }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt: boolean };
