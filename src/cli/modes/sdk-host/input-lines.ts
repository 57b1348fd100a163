import { z } from 'zod';
import type { JsonObject } from '../../../contracts/json.ts';
import type { UserBlock } from '../../../contracts/message.ts';
import { getErrorMessage } from '../../../lib/errors.ts';

const jsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const mediaSourceSchema = z.union([
  z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  z.object({ type: z.literal('url'), url: z.url({ protocol: /^https?$/ }) }),
]);

/** A plain text document becomes a text block. */
const textDocumentSchema = z
  .object({
    type: z.literal('document'),
    title: z.string().nullish(),
    source: z.object({ type: z.literal('text'), data: z.string() }),
  })
  .transform(({ title, source: { data } }) => ({
    type: 'text' as const,
    text: title == null ? data : `${title}\n\n${data}`,
  }));

const blockSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), source: mediaSourceSchema }),
  z.object({ type: z.literal('document'), source: mediaSourceSchema }),
  textDocumentSchema,
]);

const lineSchema = z.union([
  z.object({
    type: z.literal('user'),
    message: z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(blockSchema)]) }),
    priority: z.enum(['now', 'next', 'later']).optional(),
    uuid: z.string().optional(),
    /** False: the message is added to the conversation without asking the model. */
    shouldQuery: z.boolean().optional(),
    /** Composed by the host program: not parsed for slash commands and file mentions. */
    client_composed: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('control_request'),
    request_id: z.string(),
    request: z.intersection(z.object({ subtype: z.string() }), jsonObjectSchema),
  }),
  z.object({
    type: z.literal('control_response'),
    response: z.union([
      z.object({ subtype: z.literal('success'), request_id: z.string(), response: jsonObjectSchema.nullish() }),
      z.object({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
    ]),
  }),
  z.object({ type: z.literal('control_cancel_request'), request_id: z.string() }),
  z.object({ type: z.literal('keep_alive') }),
]);

/** A line sent by the host. */
export type HostInputLine = z.output<typeof lineSchema>;
/** A message of the user. */
export type HostUserLine = Extract<HostInputLine, { type: 'user' }>;
/** A request of the host to ouro. */
export type ControlRequest = Extract<HostInputLine, { type: 'control_request' }>;
/** The host's response to a request of ouro. */
export type ControlResponse = Extract<HostInputLine, { type: 'control_response' }>['response'];

/** A parsed line; a bad one has its line type, and the id of the request that waits for a response. */
export type ParsedHostInputLine =
  | { readonly ok: true; readonly line: HostInputLine | { readonly type: 'other' } }
  | { readonly ok: false; readonly problem: string; readonly lineType?: string; readonly requestId?: string };

/** Parses one line from the host. Unknown line types become `other`, since hosts may be newer. */
export function parseHostInputLine(text: string): ParsedHostInputLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { ok: false, problem: `is not JSON: ${getErrorMessage(thrown)}` };
  }
  try {
    return parseLine(value);
  } catch {
    // The schema validation overflows the stack on thousands of nested brackets.
    return createFailure(value, getLineType(value) ?? '', 'is nested too deeply');
  }
}

function parseLine(value: unknown): ParsedHostInputLine {
  const parsed = lineSchema.safeParse(value);
  if (parsed.success) return { ok: true, line: parsed.data };
  const type = getLineType(value);
  if (type === undefined) return { ok: false, problem: 'is not an object with a type' };
  if (!KNOWN_TYPES.includes(type)) return { ok: true, line: { type: 'other' } };
  return createFailure(value, type, `is not a valid ${type} line${describeBadBlock(value)}`);
}

function getLineType(value: unknown): string | undefined {
  return z.object({ type: z.string() }).safeParse(value).data?.type;
}

function createFailure(value: unknown, type: string, problem: string): ParsedHostInputLine {
  const requestId = type === 'control_request' ? requestIdSchema.safeParse(value).data?.request_id : undefined;
  return { ok: false, problem, lineType: type, ...(requestId === undefined ? {} : { requestId }) };
}

/** Names the first invalid block of a message, the most common mistake of hosts. */
function describeBadBlock(value: unknown): string {
  const blocks = contentSchema.safeParse(value).data?.message.content ?? [];
  const index = blocks.findIndex((candidate) => !blockSchema.safeParse(candidate).success);
  return index < 0 ? '' : `: message.content[${index}] is not a valid text, image or document block`;
}

const contentSchema = z.object({ message: z.object({ content: z.array(z.unknown()) }) });
const requestIdSchema = z.object({ request_id: z.string() });

const KNOWN_TYPES = ['user', 'control_request', 'control_response', 'control_cancel_request'];

/** Returns the content of a user line as blocks. */
export function getUserBlocks(line: HostUserLine): readonly UserBlock[] {
  const { content } = line.message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
