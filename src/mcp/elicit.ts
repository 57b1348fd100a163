import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { CallContext, ElicitationWish } from '../contracts/tool.ts';
import { asJson } from '../lib/as-json.ts';
import { contentProblem, withDefaults } from '../lib/forms/form-content.ts';
import { formFields } from '../lib/forms/form-fields.ts';
import { untrustedText } from '../lib/text/sanitize.ts';

export type Ask = CallContext['ask'];

/** What came of a question: the answer for the server, and why it is a no where no person has said it. */
export type Elicited = { readonly result: ElicitResult; readonly reason?: string };

const MESSAGE_CHARS = 4_000;
const content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** Puts a server's question to the person. Where nobody can be asked, or the answer does not fit, the server hears no. */
export async function elicit(
  server: string,
  params: ElicitRequest['params'],
  ask: Ask | undefined,
  withdrawn: AbortSignal,
): Promise<Elicited> {
  if (ask === undefined) return declined('Nobody can be asked here.');
  const wants = wishOf(params);
  if (wants.mode === 'url' && !/^https?:/.test(wants.url)) return declined(`${wants.url} is no web address.`);
  const message = untrustedText(params.message).slice(0, MESSAGE_CHARS);
  const answer = await ask({ kind: 'elicitation', server, message, wants }, withdrawn);
  if (answer === undefined) return { result: { action: 'cancel' } };
  if (answer.kind !== 'elicitation') return declined('The question was not understood.');
  if (answer.action !== 'accept') {
    return answer.reason === undefined ? { result: { action: answer.action } } : declined(answer.reason);
  }
  if (wants.mode === 'url') return { result: { action: 'accept' } };
  const fields = formFields(wants.schema);
  const filled = withDefaults(fields, answer.content ?? {});
  const given = content.safeParse(filled);
  const problem = given.success ? contentProblem(fields, filled) : 'It holds what no form asks for.';
  if (!given.success || problem !== undefined) return declined(`The answer does not fit the form: ${problem}`);
  return { result: { action: 'accept', content: given.data } };
}

function wishOf(params: ElicitRequest['params']): ElicitationWish {
  if (params.mode === 'url') return { mode: 'url', url: params.url, id: params.elicitationId };
  return { mode: 'form', schema: asJson(params.requestedSchema) };
}

function declined(reason: string): Elicited {
  return { result: { action: 'decline', _meta: { reason } }, reason };
}
