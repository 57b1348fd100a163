import { EFFORTS } from '../../contracts/model.ts';
import type { PermissionAnswer } from '../../contracts/permission.ts';
import type { SdkAgent } from './agent-commands.ts';
import { checkAgentOptions } from './check-agent-options.ts';
import { composeAgent } from './compose-agent.ts';
import type { AgentOptions, RunEnd } from './options.ts';
import { type AgentCapsule, createCapsuleResumption, parseAgentCapsule, parsePermissionAnswer } from './suspension.ts';

/** Creates an agent. Without options it uses the default model, the key from the environment, and no tools. */
export function createAgent(options: AgentOptions = {}): SdkAgent {
  checkAgentOptions('createAgent', options);
  return composeAgent(options, undefined);
}

/** The options of `resumeAgent`: those of the agent, and the answer to the open question. */
export type ResumeOptions = Omit<AgentOptions, 'sessionId' | 'messages'> & {
  readonly answer: PermissionAnswer | boolean;
};

/** Continues a suspended run with the answer to its question. `end` resolves when the run has ended. */
export function resumeAgent(
  capsule: AgentCapsule | string,
  resumeOptions: ResumeOptions,
): { readonly agent: SdkAgent; readonly end: Promise<RunEnd> } {
  const { answer, ...options } = resumeOptions ?? {};
  checkAgentOptions('resumeAgent', options);
  const parsed = parseAgentCapsule(capsule);
  const resumption = createCapsuleResumption(parsed, parsePermissionAnswer('resumeAgent', answer));
  const { sessionId, messages, reply } = parsed;
  const agent = composeAgent({ ...options, sessionId, messages }, { resumption, voidMessageId: reply.id });
  return { agent, end: agent.continue() };
}

/** The thinking levels, lowest first. */
export const THINKING_LEVELS = EFFORTS;
