import type { CallDenial, Refusal } from './denial.ts';
import type { Display, Question } from './display.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ResultBlock, ToolResultBlock } from './message.ts';
import type { ToolSpec } from './model.ts';
import type { ToolTraits } from './permission.ts';
import type { BlockedEffect, CallEnforcement } from './sandbox.ts';
import type { ShellAnalysis } from './shell-analysis.ts';

/** An expected failure of a tool. The model reads the message, so it says what to try next. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** The progress of a running tool. Only the latest report counts. */
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

/** The outcome of a call: text or blocks for the model, data for the user and for hosts. */
export type ToolOutcome = {
  readonly content: string | readonly ResultBlock[];
  readonly isError?: boolean;
  readonly display?: Display;
  /** The structured result that hosts read (`tool_use_result`). */
  readonly structured?: JsonValue;
  /** The call failed because its limits blocked these effects. The gate decides whether it runs again without them. */
  readonly blocked?: readonly BlockedEffect[];
  /** The call was a trial that does not stand by itself. The gate decides about what it did. */
  readonly trial?: CallTrial;
  /** The call asked for something that still runs, so it is to be repeated. */
  readonly isPending?: true;
  /** Text for the model that is placed after all results (the text of a skill, a reminder). */
  readonly attachment?: string;
  /** Ends the run with this call: with a structured answer, or because none was given. */
  readonly endsRun?:
    | { readonly reason: 'structured_output'; readonly value: JsonValue }
    | { readonly reason: 'structured_output_failed'; readonly words: string };
};

/** A run in a throw-away layer over the workspace, which changed something or did not show what the call does. */
export type CallTrial =
  | { readonly is: 'void'; readonly why: string }
  | {
      readonly is: 'pending';
      /** The paths that it changed, in the workspace. */
      readonly paths: readonly string[];
      readonly preview: Display;
      /** The last lines that it printed. */
      readonly printed: readonly string[];
      /** Makes the changes in the workspace, and returns the outcome of the run. */
      readonly apply: () => Promise<ToolOutcome>;
      readonly discard: () => void;
    };

/** A result as the model sees it, and how many replies ago its call was made; 1 is the reply before the current one. */
export type SentResult = { readonly result: ToolResultBlock; readonly repliesAgo: number };

/** The context of a call. `cwd` is a value; the working directory of the process never changes. */
export type CallContext = {
  readonly callId: string;
  readonly cwd: string;
  /** Limits in which the call has to run, set by the permission gate. */
  readonly enforce?: CallEnforcement;
  /** A trial of this call, whose changes were allowed. */
  readonly trial?: CallTrial;
  readonly signal: AbortSignal;
  readonly report: (progress: ToolProgress) => void;
  /** Finds the result of an earlier call as the model sees it now; absent if that is not known. */
  readonly findSent?: (callId: string) => SentResult | undefined;
  /** Asks the user. Resolves with `undefined` when no user is present or the question is withdrawn. */
  readonly ask: (question: UserQuestion, withdrawn?: AbortSignal) => Promise<UserAnswer | undefined>;
};

/** A question of a tool to the user. The answer is matched by id. */
export type UserQuestion =
  | { readonly kind: 'questions'; readonly questions: readonly Question[]; readonly source?: QuestionSource }
  | { readonly kind: 'plan'; readonly plan: string }
  | ({
      readonly kind: 'elicitation';
      readonly message: string;
      readonly wants: ElicitationRequest;
    } & QuestionSource);

/** The MCP server that asks, and the file that configures it; flags and hosts have none. */
export type QuestionSource = { readonly server: string; readonly file?: string | undefined };

/** The request of an MCP server to the user: fill in a form, or visit a URL. */
export type ElicitationRequest =
  | { readonly mode: 'form'; readonly schema: JsonObject }
  | { readonly mode: 'url'; readonly url: string; readonly id: string };

/** The answer to a tool's question. */
export type UserAnswer =
  /** The question was put and not answered. */
  | ({ readonly kind: 'refused' } & Refusal)
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
      /** Reason for a refusal that was not the user's decision. */
      readonly reason?: string;
    };

/** A call with validated input, bound to its tool. */
export type PreparedCall = {
  /** Validated copy of the input, with derived fields. The transcript keeps the input as the model wrote it. */
  readonly input: JsonObject;
  readonly title: string;
  readonly isReadOnly: boolean;
  readonly isConcurrencySafe: boolean;
  /** Analysis of the command line that the call runs. */
  readonly shell?: ShellAnalysis;
  /** Returns the input with what only another program knows about the call; used before hooks and gate see the call. */
  readonly completeInput?: (context: PreconditionContext) => Promise<JsonObject>;
  /** Returns the reason why the call cannot succeed now, as an error for the model; asked before the user is. */
  readonly checkPreconditions?: (context: PreconditionContext) => Promise<string | undefined>;
  /** Calls of other tools that are made in place of this one, in order; each passes hooks and gate by itself. */
  readonly steps?: readonly CallStep[];
  /** Records what the steps are about to change, so that a failed step leaves nothing changed. */
  readonly guardSteps?: (context: PreconditionContext) => Promise<StepGuard>;
  call(context: CallContext): Promise<ToolOutcome>;
};

/** A call of another tool, by its name. `isFollowing`: an earlier step of the call changes the same file. */
export type CallStep = { readonly tool: string; readonly input: JsonObject; readonly isFollowing?: boolean };

/** Undoes the steps of a call. */
export type StepGuard = {
  /** Called after each step that has succeeded. */
  recordStep(): Promise<void>;
  /** Undoes all recorded steps. Returns the files that are not as before, because they have changed since. */
  restore(): Promise<readonly string[]>;
  /** Called when the call has ended: other sessions may change the files again. */
  release(): Promise<void>;
};

/** The context in which the obstacles of a call are looked for. */
export type PreconditionContext = Pick<CallContext, 'cwd' | 'signal'>;

/** A tool. `buildTool` creates it and fills in cautious defaults. */
export type Tool = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly label: string;
  readonly spec: ToolSpec;
  readonly maxResultChars: number;
  /** Deferred tools are sent by name only until ToolSearch loads them. */
  readonly deferred: boolean;
  readonly source: 'builtin' | 'mcp' | 'host';
  /** Statement of the tool for permissions and for the handling of its results. */
  readonly traits?: ToolTraits;
  /** Tells whether a call means this tool: by a name in another assistant, or by its arguments. */
  readonly answersTo?: (name: string, input: JsonValue) => 'name' | 'arguments' | undefined;
  /** Hidden tools are not described to the model; they only accept calls in the format of another assistant. */
  readonly isHidden?: boolean;
  /** Validates the input. Returns the call, or the error message for the model. */
  prepare(
    input: JsonValue,
  ): { readonly ok: true; readonly call: PreparedCall } | { readonly ok: false; readonly problem: string };
};

/** A call as the permission gate sees it. */
export type CallRequest = {
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly input: JsonObject;
  readonly cwd: string;
  readonly isReadOnly: boolean;
  /** Effects that the limits of a first run blocked, so that the call asks to run without limits. */
  readonly blocked?: readonly BlockedEffect[];
  /** The trial of the call, whose effects need approval. */
  readonly trial?: CallTrial;
  readonly agentId?: string;
  /** Analysis of the command line that the call runs. */
  readonly shell?: ShellAnalysis;
  /** Returns the reason why the call cannot succeed now; asked before the user is. */
  readonly checkPreconditions?: (signal: AbortSignal) => Promise<string | undefined>;
};

/** The answer of the gate. A denial has a message for the model. */
export type GateVerdict =
  | {
      readonly behavior: 'allow';
      readonly input: JsonObject;
      readonly note?: string;
      readonly enforce?: CallEnforcement;
    }
  | {
      readonly behavior: 'deny';
      readonly message: string;
      readonly interrupt: boolean;
      readonly denial?: CallDenial;
      /** Set if the call could not succeed, so that nobody was asked. */
      readonly cause?: 'obstacle';
    };
