import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { UserAnswer, UserQuestion } from '../contracts/tool.ts';
import { asJson } from '../lib/as-json.ts';
import { untrustedText } from './untrusted-text.ts';

export type Ask = (question: UserQuestion) => Promise<UserAnswer | undefined>;

const MESSAGE_CHARS = 4_000;
const content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** Puts a server's question to the person. Nobody there, or an answer that does not fit: cancelled. */
export async function elicit(
  server: string,
  params: ElicitRequest['params'],
  ask: Ask | undefined,
): Promise<ElicitResult> {
  // Only forms are offered as a capability; an address to open is not answered.
  if (params.mode === 'url' || ask === undefined) return { action: 'decline' };
  const message = untrustedText(params.message).slice(0, MESSAGE_CHARS);
  const schema = asJson(params.requestedSchema);
  const answer = await ask({ kind: 'elicitation', server, message, schema });
  if (answer?.kind !== 'elicitation') return { action: 'cancel' };
  if (answer.action !== 'accept') return { action: answer.action };
  const given = content.safeParse(answer.content ?? {});
  return given.success ? { action: 'accept', content: given.data } : { action: 'cancel' };
}
