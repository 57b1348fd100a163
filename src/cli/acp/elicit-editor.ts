import type { AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';

/** The editor that answers, and the session it answers for. */
export type Asker = {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly abilities: ClientCapabilities;
};

type Elicitation = Extract<UserQuestion, { kind: 'elicitation' }>;

const answerSchema = z.object({ action: z.string(), content: z.record(z.string(), z.json()).nullish() });

/** Puts the question of an MCP server to the editor, which draws forms and opens addresses itself where it can. */
export async function elicitFromEditor(
  { client, sessionId, abilities }: Asker,
  callId: string,
  { message, wants }: Elicitation,
  signal: AbortSignal,
): Promise<UserAnswer> {
  if (abilities.elicitation?.[wants.mode] == null)
    return { kind: 'elicitation', action: 'decline', reason: `The editor cannot put a ${WORDS[wants.mode]} to you.` };
  const about = { sessionId, toolCallId: callId, message };
  const asked =
    wants.mode === 'url'
      ? ({ ...about, mode: 'url', url: wants.url, elicitationId: wants.id } as const)
      : ({ ...about, mode: 'form', requestedSchema: { ...wants.schema, type: 'object' } } as const);
  try {
    const answer = answerSchema.parse(
      await client.request('elicitation/create', asked, { cancellationSignal: signal, stopWaitingOnCancel: true }),
    );
    if (answer.action !== 'accept')
      return { kind: 'elicitation', action: answer.action === 'decline' ? 'decline' : 'cancel' };
    return { kind: 'elicitation', action: 'accept', content: answer.content ?? {} };
  } catch (thrown) {
    if (signal.aborted) return { kind: 'elicitation', action: 'cancel' };
    return { kind: 'elicitation', action: 'decline', reason: `The editor did not answer: ${messageOf(thrown)}` };
  }
}

const WORDS = { form: 'form', url: 'page to visit' } as const;
