/** `ouro/context`: what makes room when a conversation no longer fits its model. */

export { type Context, type ContextParts, createContext } from '../context/create-context.ts';
export type { ContextPort, ContextResult } from '../contracts/query.ts';
