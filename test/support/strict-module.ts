/** A module of a strict TypeScript project that uses every part of the package. */
export const STRICT_MODULE = `
import { createAgent, type AgentEvent } from '@ouro-cli/agent';
import { query, type Message } from '@ouro-cli/agent/agent';
import { builtInTools, rulesGate } from '@ouro-cli/agent/tools';
import { createAnthropicPort, withRetry } from '@ouro-cli/agent/model';
import { openSession } from '@ouro-cli/agent/session';
import { createContext } from '@ouro-cli/agent/context';
import { connectMcp } from '@ouro-cli/agent/mcp';
import { buildTool } from '@ouro-cli/agent/tools';
import { decisionOf } from '@ouro-cli/agent/permissions';
import { agentHooks } from '@ouro-cli/agent/hooks';
declare module '@ouro-cli/agent/agent' { interface CustomMessages { ticket: { readonly number: number } } }
const agent = createAgent({ tools: builtInTools({ cwd: '/', gate: rulesGate({ cwd: '/' }) }) });
await agent.append({ role: 'custom', id: 't', kind: 'ticket', data: { number: 7 } });
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const;
export const told = buildTool({ name: 'Told', prompt: 'Told.', input: schema, call: async ({ a }) => ({ content: String(a) }) });
export const hooks = agentHooks({ cwd: '/', hooks: { Stop: [{ hooks: [async () => ({})] }] } });
export const judged: 'allow' | 'ask' | 'deny' = decisionOf({ cwd: '/' }, { tool: 'Bash', input: {} }).verdict;
export const other = createAgent({ hooks, context: 'off', model: { model: 'mine', info: { contextWindow: 9_000 } } });
export const seen: (event: AgentEvent) => Message | undefined = (event) => event.type === 'message_end' ? event.message : undefined;
export const parts = [query, createAnthropicPort, withRetry, openSession, createContext, connectMcp];
`;
