/** `@ouro-cli/agent/hooks`: commands, URLs and functions that run at each step of an agent and can block it. */

export type { LoopHooks } from '../contracts/feature.ts';
export {
  HOOK_EVENTS,
  type HookConfig,
  type HookEvent,
  type HookResult,
  type HookVerdict,
} from '../contracts/hook.ts';
export {
  type AgentHooks,
  createAgentHooks as agentHooks,
  type HookFunction,
  type HookGroups,
  type HookSettings,
} from './agent-hooks.ts';
