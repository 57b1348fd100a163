import type { RunEnd } from '../../agent/agent-run-records.ts';
import { composeAgent } from '../../agent/compose-agent.ts';
import { EFFORTS } from '../../contracts/model.ts';
import type { PermissionAnswer } from '../../contracts/permission.ts';
import { createSdkAgentMethods, type SdkAgent } from './agent-commands.ts';
import { createAgentParts } from './agent-parts.ts';
import { type AgentCapsule, parseAgentCapsule, parsePermissionAnswer } from './capsule.ts';
import { checkAgentOptions } from './check-agent-options.ts';
import { listFeatures } from './list-features.ts';
import type { AgentOptions } from './options.ts';
import { parseAppMessages } from './parse-app-messages.ts';
import { createRunDeps } from './run-deps.ts';
import { type CapsuleResumption, createCapsuleResumption, limitToOpenCalls } from './suspension.ts';

/** Creates an agent. Without options it uses the default model, the key from the environment, and no tools. */
export function createAgent(options: AgentOptions = {}): SdkAgent {
  checkAgentOptions('createAgent', options);
  return createFromOptions(options, undefined);
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
  const { sessionId, messages } = parsed;
  const agent = createFromOptions({ ...options, sessionId, messages }, resumption);
  return { agent, end: agent.continue() };
}

/** The thinking levels, lowest first. */
export const THINKING_LEVELS = EFFORTS;

/** Composes an agent from the parts and features that its options describe. */
function createFromOptions(options: AgentOptions, resumption: CapsuleResumption | undefined): SdkAgent {
  const parts = createAgentParts(options, resumption);
  const { sessionId, cwd, newId, now, log, connection, setup, runs, undo, suspension } = parts;
  const { emit } = connection;
  const features = listFeatures(options, emit, log).map((feature) => limitToOpenCalls(feature, suspension, resumption));
  const conversion = { caller: 'createAgent', newId, now, model: setup.current().model };
  const agent = composeAgent([...features, { name: 'capsule', afterCall: suspension.afterCall }], {
    sessionId,
    messages: structuredClone(parseAppMessages(options.messages ?? [], conversion)),
    listeners: [runs.onEvent, suspension.onEvent],
    deps: (port) => createRunDeps(parts, port, features),
    attach: connection.attach,
    async beforeRun() {
      runs.start();
      undo.start();
      // The calls of the reply get their results from this run.
      if (resumption !== undefined && runs.isFirst())
        await emit({ type: 'tombstone', messageId: resumption.replyId, why: 'The run continues.' });
      await setup.current().chain.waitUntilReady();
    },
    afterRun: async (terminal) => (suspension.isSuspended() ? [] : undo.finish(terminal)),
    describeFault: (message) => `Internal error: ${message}.`,
    describe: () => ({ model: setup.current().model, effort: setup.current().thinking, mode: 'default', cwd }),
    onListenerError: (thrown) => log('error', `A listener threw: ${String(thrown)}`),
    newId,
    now,
  });
  agent.setQueueMode('next', options.queueModes?.steering ?? 'one-at-a-time');
  agent.setQueueMode('after', options.queueModes?.followUp ?? 'one-at-a-time');
  options.signal?.addEventListener('abort', () => agent.abort(), { once: true });
  return createSdkAgentMethods(agent, parts);
}
