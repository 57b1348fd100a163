import {
  type JsonObject,
  type JsonValue,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseNetworkJson,
} from '@ouro-cli/ouro/commands';
import type { ImageBlock, TextBlock } from '@ouro-cli/ouro/sessions';
import {
  type ConversationBuilder,
  createConversationBuilder,
  createImageBlock,
  type ForeignSession,
  formatForeignModelName,
  parseJsonLines,
} from './foreign-session.ts';

/**
 * Converts a chat of Gemini CLI: one JSON object, or lines with the messages, `$set` for changed fields and `$rewindTo`
 * for messages that were taken back. The folder is not in the file.
 */
export function convertGeminiSession(text: string, cwd: string): ForeignSession | undefined {
  const { fields, messages } = readRecords(text);
  const id = narrowToString(fields.sessionId);
  if (id === undefined || fields.kind === 'subagent') return undefined;
  const builder = createConversationBuilder(id);
  for (const message of messages) addMessage(message, builder);
  const built = builder.build();
  return { id, cwd, ...built, title: narrowToString(fields.summary) ?? built.title };
}

type Records = { readonly fields: JsonObject; readonly messages: readonly JsonObject[] };

function readRecords(text: string): Records {
  const whole = narrowToObject(parseNetworkJson(text));
  if (whole !== undefined && Array.isArray(whole.messages))
    return { fields: whole, messages: narrowToObjects(whole.messages) };
  let fields: JsonObject = {};
  let messages: readonly JsonObject[] = [];
  for (const record of parseJsonLines(text)) {
    const changed = narrowToObject(record.$set);
    const rewindTo = narrowToString(record.$rewindTo);
    if (rewindTo !== undefined) {
      const at = messages.findIndex(({ id }) => id === rewindTo);
      messages = messages.slice(0, Math.max(0, at));
    } else if (changed !== undefined) {
      fields = { ...fields, ...changed };
      if (Array.isArray(changed.messages)) messages = narrowToObjects(changed.messages);
    } else if (typeof record.id === 'string' && typeof record.type === 'string') messages = addRecord(messages, record);
    else fields = { ...fields, ...record };
  }
  return { fields, messages };
}

/** Adds a message, or replaces its earlier version. After a resume, results have the id of the reply with their calls. */
function addRecord(messages: readonly JsonObject[], record: JsonObject): readonly JsonObject[] {
  const at = messages.findLastIndex(({ id, type }) => id === record.id && type === record.type);
  return at === -1 ? [...messages, record] : messages.with(at, record);
}

/** Describes the machine to the model; the program inserts it as the first message. */
const CONTEXT = /^\s*<session_context>/;

function addMessage(message: JsonObject, builder: ConversationBuilder): void {
  const at = narrowToString(message.timestamp);
  if (message.type === 'user') {
    const blocks = readParts(message.content, builder);
    builder.addPrompt(
      blocks.filter((block) => block.type !== 'text' || !CONTEXT.test(block.text)),
      at,
    );
    return;
  }
  // Notices of the program.
  if (message.type !== 'gemini') return;
  const model = formatForeignModelName('google', narrowToString(message.model));
  builder.countLoss('thought', narrowToObjects(message.thoughts).length);
  for (const part of readParts(message.content, builder))
    if (part.type === 'text') builder.addText(model, part.text, at);
  const calls = narrowToObjects(message.toolCalls);
  for (const { id, name, args } of calls)
    builder.addCall(model, { id: narrowToString(id) ?? '', name: narrowToString(name) ?? '', input: args ?? {} }, at);
  for (const { id, result, status } of calls)
    if (result !== undefined && result !== null)
      builder.addResult(narrowToString(id) ?? '', readResult(result), { isError: status === 'error' });
}

/** A list of parts is a text, one part, or several. */
function listParts(value: JsonValue | undefined): readonly JsonObject[] {
  if (typeof value === 'string') return [{ text: value }];
  const one = narrowToObject(value);
  if (one !== undefined) return [one];
  if (!Array.isArray(value)) return [];
  return value
    .map((part) => (typeof part === 'string' ? { text: part } : narrowToObject(part)))
    .filter((part) => part !== undefined);
}

function readParts(value: JsonValue | undefined, builder: ConversationBuilder): readonly (TextBlock | ImageBlock)[] {
  return listParts(value).flatMap((part): readonly (TextBlock | ImageBlock)[] => {
    const text = narrowToString(part.text);
    if (text !== undefined) return text.trim() === '' ? [] : [{ type: 'text', text }];
    // Calls and results are read from `toolCalls`, which also says whether they failed.
    if (part.functionCall !== undefined || part.functionResponse !== undefined) return [];
    const { mimeType, data } = narrowToObject(part.inlineData) ?? {};
    const image = createImageBlock(narrowToString(mimeType) ?? '', narrowToString(data) ?? '');
    if (image === undefined) builder.countLoss('attachment');
    return image === undefined ? [] : [image];
  });
}

function readResult(value: JsonValue): string {
  return listParts(value)
    .map((part) => {
      const response = narrowToObject(narrowToObject(part.functionResponse)?.response);
      if (response === undefined) return narrowToString(part.text) ?? '';
      return narrowToString(response.output) ?? narrowToString(response.error) ?? JSON.stringify(response);
    })
    .join('\n');
}
