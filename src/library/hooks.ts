/** `ouro/hooks`: commands, addresses and functions that hear of every step and may object. */
export { HOOK_EVENTS, type HookEvent, type HookResult, type HookVerdict, type LoopHooks } from '../contracts/hook.ts';
export type { HookConfig } from '../contracts/settings.ts';
export { type AgentHooks, agentHooks, type HookFunction, type HookGroups, type HookSettings } from './agent-hooks.ts';
