import type {
  CallToolResult,
  CompleteRequest,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitResult,
  GetPromptResult,
  LoggingLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../contracts/json.ts';

/** What somebody offers to other programs; every member that is left out is not offered. */
export type Offer = {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  readonly tools: () => readonly Tool[];
  /** `undefined`: there is no such tool. What is thrown is an answer that says so. */
  readonly call: (name: string, input: JsonObject, call: ServedCall) => Promise<CallToolResult | undefined>;
  readonly prompts?: {
    readonly list: () => Promise<readonly Prompt[]>;
    /** A sentence where it cannot be had. */
    readonly get: (name: string, args: Readonly<Record<string, string>>) => Promise<GetPromptResult | string>;
  };
  readonly resources?: {
    readonly list: (from: number) => Promise<{ readonly resources: readonly Resource[]; readonly next?: number }>;
    readonly templates: () => readonly ResourceTemplate[];
    /** A sentence where it cannot be had. */
    readonly read: (uri: string) => Promise<ReadResourceResult | string>;
    /** Tells of changes until it is told to stop. */
    readonly watch: (uri: string, changed: () => void) => () => void;
  };
  /** How an argument that was begun could go on, best first. */
  readonly complete?: (params: CompleteRequest['params']) => Promise<readonly string[]>;
};

/** What a call can do while it runs. */
export type ServedCall = {
  /** Aborted when the client takes the call back, or leaves. */
  readonly signal: AbortSignal;
  /** Told where the client wants to hear of it. */
  readonly progress: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly log: (level: LoggingLevel, words: string) => void;
  /** Asks the person at the client; absent where it has none to ask. */
  readonly ask: ((params: ElicitRequestFormParams) => Promise<ElicitResult>) | undefined;
  /** Asks the client's model; absent where it lends none. */
  readonly sample: ((params: CreateMessageRequest['params']) => Promise<CreateMessageResult>) | undefined;
  /** Ends the stream the answer would come on; the client comes back for it. Absent on pipes. */
  readonly release: (() => void) | undefined;
};
