/** `@ouro-cli/agent/context`: compaction for conversations that no longer fit the context window. */

export { createSummarizer, type SummarizerDeps } from '../agent/summarize.ts';
export { type Context, type ContextParts, createContext } from '../context/create-context.ts';
export type { CompactionResult, ContextPort, ContextResult, Summarize, SummaryRequest } from '../contracts/query.ts';
