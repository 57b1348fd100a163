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

/** An MCP server's features as plain functions; an absent member is not offered. */
export type ServedFeatures = {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  readonly tools: () => readonly Tool[];
  /** Calls a tool; `undefined` when it does not exist. An error becomes an error result. */
  readonly call: (name: string, input: JsonObject, call: ServedCallContext) => Promise<CallToolResult | undefined>;
  readonly prompts?: {
    readonly list: () => Promise<readonly Prompt[]>;
    /** Returns an error message when the prompt is not available. */
    readonly get: (name: string, args: Readonly<Record<string, string>>) => Promise<GetPromptResult | string>;
  };
  readonly resources?: {
    readonly list: (offset: number) => Promise<{ readonly resources: readonly Resource[]; readonly next?: number }>;
    readonly templates: () => readonly ResourceTemplate[];
    /** Returns an error message when the resource is not available. */
    readonly read: (uri: string) => Promise<ReadResourceResult | string>;
    /** Calls `onChange` on each change; returns a function that stops the watch. */
    readonly watch: (uri: string, onChange: () => void) => () => void;
  };
  /** Completes an argument; best value first. */
  readonly complete?: (params: CompleteRequest['params']) => Promise<readonly string[]>;
};

/** The context of a running call from a client. */
export type ServedCallContext = {
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Reports progress to a client that asked for it. */
  readonly reportProgress: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly log: (level: LoggingLevel, message: string) => void;
  /** Asks the client's user; absent when the client cannot ask. */
  readonly ask: ((params: ElicitRequestFormParams) => Promise<ElicitResult>) | undefined;
  /** Sends a request to the client's model; absent when the client offers none. */
  readonly sample: ((params: CreateMessageRequest['params']) => Promise<CreateMessageResult>) | undefined;
  /** Ends the response stream, so the client reconnects for the answer; absent on pipes. */
  readonly releaseStream: (() => void) | undefined;
};
