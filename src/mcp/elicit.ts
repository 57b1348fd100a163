import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { CallContext, ElicitationRequest } from '../contracts/tool.ts';
import { applyFormDefaults, parseFormFields, validateForm } from '../lib/form-schema.ts';
import { copyAsJson } from '../lib/json.ts';
import { sanitizeUntrusted } from '../lib/text/sanitize.ts';

/** Asks the user a question; `undefined` is no answer. */
export type AskUser = CallContext['ask'];

/** The answer for the server, and the reason when it was declined without the user's decision. */
export type ElicitationOutcome = { readonly result: ElicitResult; readonly reason?: string };

const MESSAGE_CHARS = 4_000;
const contentSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** Asks the user a server's question; declines when the user cannot be asked or the answer does not fit the form. */
export async function elicit(
  server: string,
  params: ElicitRequest['params'],
  ask: AskUser | undefined,
  withdrawSignal: AbortSignal,
): Promise<ElicitationOutcome> {
  if (ask === undefined) return decline('The user cannot be asked in this mode.');
  const request = parseRequest(params);
  if (request.mode === 'url' && !/^https?:/.test(request.url)) return decline(`${request.url} is not a web address.`);
  const message = sanitizeUntrusted(params.message).slice(0, MESSAGE_CHARS);
  const answer = await ask({ kind: 'elicitation', server, message, wants: request }, withdrawSignal);
  if (answer === undefined) return { result: { action: 'cancel' } };
  if (answer.kind !== 'elicitation') return decline('The frontend answered a different kind of question.');
  if (answer.action !== 'accept') {
    return answer.reason === undefined ? { result: { action: answer.action } } : decline(answer.reason);
  }
  if (request.mode === 'url') return { result: { action: 'accept' } };
  const fields = parseFormFields(request.schema);
  const filled = applyFormDefaults(fields, answer.content ?? {});
  const parsed = contentSchema.safeParse(filled);
  const problem = parsed.success ? validateForm(fields, filled) : 'It contains values of an unsupported type.';
  if (!parsed.success || problem !== undefined) return decline(`The answer does not fit the form: ${problem}`);
  return { result: { action: 'accept', content: parsed.data } };
}

function parseRequest(params: ElicitRequest['params']): ElicitationRequest {
  if (params.mode === 'url') return { mode: 'url', url: params.url, id: params.elicitationId };
  return { mode: 'form', schema: copyAsJson(params.requestedSchema) };
}

function decline(reason: string): ElicitationOutcome {
  return { result: { action: 'decline', _meta: { reason } }, reason };
}
