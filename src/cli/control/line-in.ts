import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import type { UserBlock } from '../../contracts/message.ts';
import { messageOf } from '../../lib/errors.ts';

const json: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const media = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() });

const block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), source: media }),
  z.object({ type: z.literal('document'), source: media }),
]);

const lineSchema = z.union([
  z.object({
    type: z.literal('user'),
    message: z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(block)]) }),
    priority: z.enum(['now', 'next', 'later']).optional(),
    uuid: z.string().optional(),
  }),
  z.object({
    type: z.literal('control_request'),
    request_id: z.string(),
    request: z.intersection(z.object({ subtype: z.string() }), json),
  }),
  z.object({
    type: z.literal('control_response'),
    response: z.union([
      z.object({ subtype: z.literal('success'), request_id: z.string(), response: json.nullish() }),
      z.object({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
    ]),
  }),
  z.object({ type: z.literal('control_cancel_request'), request_id: z.string() }),
  z.object({ type: z.literal('keep_alive') }),
]);

/** What a host may send. */
export type LineIn = z.output<typeof lineSchema>;
export type UserLine = Extract<LineIn, { type: 'user' }>;
export type ControlRequest = Extract<LineIn, { type: 'control_request' }>;
export type ControlResponse = Extract<LineIn, { type: 'control_response' }>['response'];

/** Reads one line, or says what is wrong with it. Kinds we do not know are `other`: hosts may be newer. */
export function readLine(
  text: string,
): { readonly ok: true; readonly line: LineIn | { readonly type: 'other' } } | { readonly ok: false; why: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { ok: false, why: `is not JSON: ${messageOf(thrown)}` };
  }
  const read = lineSchema.safeParse(value);
  if (read.success) return { ok: true, line: read.data };
  const type = z.object({ type: z.string() }).safeParse(value).data?.type;
  if (type === undefined) return { ok: false, why: 'is no object with a type' };
  return KNOWN.includes(type) ? { ok: false, why: `is no valid ${type} line` } : { ok: true, line: { type: 'other' } };
}

const KNOWN = ['user', 'control_request', 'control_response', 'control_cancel_request'];

/** The blocks of a user line, for the agent. */
export function blocksOf(line: UserLine): readonly UserBlock[] {
  const { content } = line.message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
