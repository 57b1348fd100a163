import { EFFORTS } from '../../contracts/model.ts';
import type { PermissionAnswer } from '../../contracts/permission.ts';
import type { SdkAgent } from './agent-commands.ts';
import { checkOptions } from './check-options.ts';
import { composeAgent } from './compose-agent.ts';
import type { AgentOptions, RunEnd } from './options.ts';
import { type AgentCapsule, createResumption, parseAnswer, parseCapsule } from './suspension.ts';

/** Creates an agent. Without options it uses the default model, the key from the environment, and no tools. */
export function createAgent(options: AgentOptions = {}): SdkAgent {
  checkOptions('createAgent', options);
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
  checkOptions('resumeAgent', options);
  const parsed = parseCapsule(capsule);
  const resumption = createResumption(parsed, parseAnswer('resumeAgent', answer));
  const { sessionId, messages, reply } = parsed;
  const agent = composeAgent({ ...options, sessionId, messages }, { resumption, voidMessageId: reply.id });
  return { agent, end: agent.continue() };
}

/** The thinking levels, lowest first. */
export const THINKING_LEVELS = EFFORTS;
