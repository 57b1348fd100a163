import { z } from 'zod';
import { buildTool } from './definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';
import { getSessionOnlyFacts } from './tool-facts.ts';

const PROMPT = `Says something to a sub-agent you have started, by its id or its name. One that is at work hears it after its present turn. One that has ended goes on in the background with everything it knows, and you are told when it has finished; so does one of an earlier run of this session.
Use it for corrections and follow-up questions: who has read the files already answers faster than a new one.`;

/** A message to a sub-agent. */
export type SubAgentMessage = { readonly callId: string; readonly to: string; readonly text: string };

/** Dependencies of the SendMessage tool. */
export type SendMessageDeps = {
  /** Sends the message and returns a text about its delivery; throws a `ToolFailure` if there is no such sub-agent. */
  readonly send: (message: SubAgentMessage, signal: AbortSignal) => Promise<string>;
};

/** The traits of the SendMessage tool. */
export const sendMessageTraits: BuiltInToolTraits = defineToolTraits({
  name: 'SendMessage',
  facts: getSessionOnlyFacts,
  subAgents: 'parents',
  forms: {
    names: ['send_input', 'message_agent', 'resume_agent'],
    synonyms: {
      to: ['id', 'agent_id', 'recipient', 'agent', 'task_id', 'name', 'target'],
      message: ['text', 'content', 'prompt', 'input', 'body'],
    },
    ignored: ['interrupt', 'summary', 'type'],
  },
});

/** Creates the SendMessage tool, which sends a message to a running or ended sub-agent. */
export function createSendMessageTool({ send }: SendMessageDeps) {
  return buildTool({
    ...sendMessageTraits,
    prompt: PROMPT,
    deferred: true,
    input: z.strictObject({
      to: z.string().min(1).describe('The id or the name of the sub-agent'),
      message: z.string().min(1),
    }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ to }) => `Message to ${to}`,
    async call({ to, message }, { callId, signal }) {
      return { content: await send({ callId, to: to.trim(), text: message }, signal) };
    },
  });
}
