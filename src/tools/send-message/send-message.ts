import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

const PROMPT = `Says something to a sub-agent you have started, by its id or its name. One that is at work hears it after its present turn. One that has ended goes on in the background with everything it knows, and you are told when it has finished; so does one of an earlier run of this session.
Use it for corrections and follow-up questions: who has read the files already answers faster than a new one.`;

/** What is said to a sub-agent, and by which call. */
export type AgentMessage = { readonly callId: string; readonly to: string; readonly words: string };

export type SendMessageParts = {
  /** Answers with what becomes of it, in words; throws a `ToolFailure` where there is nobody to hear it. */
  readonly send: (message: AgentMessage, signal: AbortSignal) => Promise<string>;
};

/** What it says of itself to those who decide about its calls. */
export const sendMessageStatement: ToolStatement = {
  name: 'SendMessage',
  facts: sessionFacts,
  subAgents: 'parents',
};

/** Words for a sub-agent that works, or has worked. */
export function createSendMessageTool({ send }: SendMessageParts) {
  return buildTool({
    ...sendMessageStatement,
    prompt: PROMPT,
    input: z.object({
      to: z.string().min(1).describe('The id or the name of the sub-agent'),
      message: z.string().min(1),
    }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ to }) => `Message to ${to}`,
    async call({ to, message }, { callId, signal }) {
      return { content: await send({ callId, to: to.trim(), words: message }, signal) };
    },
  });
}
