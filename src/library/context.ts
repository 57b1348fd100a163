/** `ouro/context`: what makes room when a conversation no longer fits its model. */

export { makeSummarize, type SummarizeParts } from '../agent/summarize.ts';
export { type Context, type ContextParts, createContext } from '../context/create-context.ts';
export type { CompactionResult, ContextPort, ContextResult, Summarize, SummaryOrder } from '../contracts/query.ts';
