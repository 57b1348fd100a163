import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import type { CallContext, ElicitationRequest } from '../contracts/tool.ts';
import { applyFormDefaults, parseFormFields, validateForm } from '../lib/form-schema.ts';
import { copyAsJson } from '../lib/json.ts';
import { sanitizeUntrusted } from '../lib/text/sanitize.ts';

/** Asks the user a question; `undefined` is no answer. */
export type AskUser = CallContext['ask'];

/** The answer for the server, and the reason when it was declined without the user's decision. */
export type ElicitationOutcome = { readonly result: ElicitResult; readonly reason?: string };

const MESSAGE_CHARS = 1_000;
const MESSAGE_LINES = 5;
/** Fields for secrets, which the protocol forbids in forms: an answer goes through ouro and its session file. */
const SECRET_FIELD =
  /pass(?:word|phrase|code|wd)|secret|credential|\b(?:api|access|private|secret|auth)[ _-]?key|\btoken\b|_token\b|token_|\bpin\b|\botp\b/i;
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
  if (request.mode === 'form' && asksForSecret(request.schema))
    return decline('A form must not ask for passwords, keys or tokens. Send the user to a web address instead.');
  const message = shortenMessage(sanitizeUntrusted(params.message));
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

function asksForSecret(schema: JsonObject): boolean {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).some(([name, field]) => {
    const { title, description } = isJsonObject(field) ? field : {};
    const labels = [name, name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'), title, description];
    return labels.some((label) => typeof label === 'string' && SECRET_FIELD.test(label));
  });
}

/** A longer message could imitate a whole screen. */
function shortenMessage(message: string): string {
  const lines = message.slice(0, MESSAGE_CHARS).split('\n');
  return lines.length <= MESSAGE_LINES ? lines.join('\n') : [...lines.slice(0, MESSAGE_LINES - 1), '…'].join('\n');
}

function parseRequest(params: ElicitRequest['params']): ElicitationRequest {
  if (params.mode === 'url') return { mode: 'url', url: params.url, id: params.elicitationId };
  return { mode: 'form', schema: copyAsJson(params.requestedSchema) };
}

function decline(reason: string): ElicitationOutcome {
  return { result: { action: 'decline', _meta: { reason } }, reason };
}
