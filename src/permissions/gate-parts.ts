import type { Display } from '../contracts/display.ts';
import type { JsonObject } from '../contracts/json.ts';
import type {
  Decision,
  PermissionAnswer,
  PermissionRequest,
  Policy,
  RememberDestination,
  ToolFacts,
} from '../contracts/permission.ts';
import type { CallRequest } from '../contracts/tool.ts';
import type { FactsOf } from './facts.ts';
import type { JudgedCall, Judgement } from './judge/judge-question.ts';
import type { PermissionFs } from './paths/fs.ts';

export type GateParts = {
  /** The rules and folders of this moment, as seen from the call's working folder. */
  readonly policy: (cwd: string) => Policy;
  readonly fs: PermissionFs;
  /** What a call would touch, as its tool says. */
  readonly factsOf: FactsOf;
  /** A hook that may answer in the person's place; what it says nothing to is asked as ever. */
  readonly askHook?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer | undefined>;
  /** In mode auto: somebody who looks at what nobody has to be asked about for certain. Its no is a question. */
  readonly judge?: (
    call: Omit<JudgedCall, 'words' | 'instructions' | 'files'>,
    title: string,
    signal: AbortSignal,
  ) => Promise<Judgement>;
  /** Absent when nobody is there: a question is then a denial. */
  readonly ask?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** What the call would change, to be shown with the question. */
  readonly preview?: (facts: ToolFacts, cwd: string, signal: AbortSignal) => Promise<Display | undefined>;
  readonly record: (entry: GateRecord) => void;
  /** Stores rules for "always"; awaited, so the next call already sees them. */
  readonly remember: (rules: readonly string[], destination: RememberDestination) => Promise<void>;
  readonly changeMode: (mode: Policy['mode']) => void;
  readonly newId: () => string;
};

/** One finished decision, for the transcript, the result message and `/permissions`. */
export type GateRecord = {
  readonly request: CallRequest;
  readonly input: JsonObject;
  readonly verdict: 'allow' | 'deny';
  readonly by: 'decision' | 'hook' | 'judge' | 'answer';
  readonly decision: Decision;
  /** What the model reads about a denial. */
  readonly message?: string;
};

/** A call that somebody has to be asked about. */
export type Question = {
  readonly request: CallRequest;
  readonly facts: ToolFacts;
  readonly decision: Decision;
  readonly policy: Policy;
};
