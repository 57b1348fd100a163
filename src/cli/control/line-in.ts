import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import type { UserBlock } from '../../contracts/message.ts';
import { messageOf } from '../../lib/errors.ts';

const json: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const media = z.union([
  z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  z.object({ type: z.literal('url'), url: z.url({ protocol: /^https?$/ }) }),
]);

/** A document that is nothing but words reads as words. */
const plainDocument = z
  .object({
    type: z.literal('document'),
    title: z.string().nullish(),
    source: z.object({ type: z.literal('text'), data: z.string() }),
  })
  .transform(({ title, source: { data } }) => ({
    type: 'text' as const,
    text: title == null ? data : `${title}\n\n${data}`,
  }));

const block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), source: media }),
  z.object({ type: z.literal('document'), source: media }),
  plainDocument,
]);

const lineSchema = z.union([
  z.object({
    type: z.literal('user'),
    message: z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(block)]) }),
    priority: z.enum(['now', 'next', 'later']).optional(),
    uuid: z.string().optional(),
    /** False: it joins the conversation, and nobody is asked. */
    shouldQuery: z.boolean().optional(),
    /** Nobody typed it: no command and no mention of a file is looked for. */
    client_composed: z.boolean().optional(),
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

/** A line as far as it could be understood: of which type it means to be, and which request waits for an answer. */
export type ReadLine =
  | { readonly ok: true; readonly line: LineIn | { readonly type: 'other' } }
  | { readonly ok: false; readonly why: string; readonly of?: string; readonly asks?: string };

/** Reads one line, or says what is wrong with it. Kinds we do not know are `other`: hosts may be newer. */
export function readLine(text: string): ReadLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { ok: false, why: `is not JSON: ${messageOf(thrown)}` };
  }
  try {
    return understood(value);
  } catch {
    // Thousands of brackets in one another are more than anybody can look through.
    return failed(value, typeOf(value) ?? '', 'is nested too deeply');
  }
}

function understood(value: unknown): ReadLine {
  const read = lineSchema.safeParse(value);
  if (read.success) return { ok: true, line: read.data };
  const type = typeOf(value);
  if (type === undefined) return { ok: false, why: 'is no object with a type' };
  if (!KNOWN.includes(type)) return { ok: true, line: { type: 'other' } };
  return failed(value, type, `is no valid ${type} line${placeOf(value)}`);
}

function typeOf(value: unknown): string | undefined {
  return z.object({ type: z.string() }).safeParse(value).data?.type;
}

function failed(value: unknown, type: string, why: string): ReadLine {
  const asks = type === 'control_request' ? waiting.safeParse(value).data?.request_id : undefined;
  return { ok: false, why, of: type, ...(asks === undefined ? {} : { asks }) };
}

/** Which block of a message it is that nobody understands: the one thing hosts get wrong. */
function placeOf(value: unknown): string {
  const blocks = content.safeParse(value).data?.message.content ?? [];
  const at = blocks.findIndex((one) => !block.safeParse(one).success);
  return at < 0 ? '' : `: message.content[${at}] is no text, image or document that can be read`;
}

const content = z.object({ message: z.object({ content: z.array(z.unknown()) }) });
const waiting = z.object({ request_id: z.string() });

const KNOWN = ['user', 'control_request', 'control_response', 'control_cancel_request'];

/** The blocks of a user line, for the agent. */
export function userBlocksOf(line: UserLine): readonly UserBlock[] {
  const { content } = line.message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
