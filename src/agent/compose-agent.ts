import type { Agent, AgentListener } from '../contracts/agent.ts';
import type { Feature } from '../contracts/feature.ts';
import type { QueryDeps } from '../contracts/query.ts';
import { composeFeatures, composePromptHook, composeQuestions } from '../engine/features.ts';
import { assembleAgent } from './agent.ts';
import type { AgentDeps, AgentPort } from './agent-deps.ts';

/** The parts of an agent besides what its features bring: their listeners, prompt hook and callbacks of the loop. */
type ComposedAgentParts = Omit<AgentDeps, 'listeners' | 'onPrompt' | 'deps'> & {
  /** Listeners that get events before the features. */
  readonly listeners: readonly AgentListener[];
  readonly deps: (port: AgentPort) => Omit<QueryDeps, keyof ReturnType<typeof composeFeatures>>;
  /** `calls`: the features see nothing but calls, because prompts and events are those of another agent. */
  readonly scope?: 'calls';
};

/** Creates an agent from a list of features: a conversation, a sub-agent, or the agent of an application. */
export function composeAgent(features: readonly Feature[], { scope, listeners, ...parts }: ComposedAgentParts): Agent {
  const loop = composeFeatures(features);
  const listed = scope === 'calls' ? [] : features;
  const addQuestions = <Asking extends Pick<QueryDeps, 'ask'>>(asking: Asking): Asking => ({
    ...asking,
    ask: composeQuestions(listed, asking.ask),
  });
  return assembleAgent({
    ...parts,
    listeners: [...listeners, ...listed.flatMap(({ onEvent }) => onEvent ?? [])],
    // Without a hook, queued messages need no admission.
    ...(listed.some(({ onPrompt, reminders }) => onPrompt ?? reminders) && { onPrompt: composePromptHook(listed) }),
    attach: (port) => parts.attach?.(addQuestions(port)),
    deps: (port) => addQuestions({ ...parts.deps(port), ...loop }),
  });
}
