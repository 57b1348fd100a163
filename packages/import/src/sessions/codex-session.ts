import {
  type JsonObject,
  type JsonValue,
  narrowToNumber,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseNetworkJson,
} from '@ouro-cli/ouro/commands';
import type { ImageBlock, ResultBlock, TextBlock } from '@ouro-cli/ouro/sessions';
import {
  type ConversationBuilder,
  createConversationBuilder,
  createImageBlock,
  type ForeignSession,
  parseJsonLines,
} from './foreign-session.ts';

/** Texts that Codex itself inserts as messages of the user. */
const INSERTED =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted|INSTRUCTIONS|skill|collaboration_mode)\b|# AGENTS\.md instructions)/;

/** Converts a rollout of Codex: session data, items of the Responses API, and events, which repeat the items. */
export function convertCodexSession(text: string): ForeignSession | undefined {
  const lines = parseJsonLines(text);
  const meta = lines.find(({ type }) => type === 'session_meta');
  const data = narrowToObject(meta?.payload) ?? {};
  const id = narrowToString(data.id) ?? narrowToString(data.session_id);
  if (id === undefined) return undefined;
  const builder = createConversationBuilder(id);
  let model = 'openai/unknown';
  for (const { type, payload, timestamp } of lines) {
    const item = narrowToObject(payload) ?? {};
    const at = narrowToString(timestamp);
    if (type === 'turn_context') model = `openai/${narrowToString(item.model) ?? 'unknown'}`;
    if (type === 'response_item') addItem(item, { model, at, builder });
    if (type === 'compacted') replaceHistory(item, { model, at, builder });
    if (type === 'event_msg' && item.type === 'thread_rolled_back')
      builder.dropPrompts(narrowToNumber(item.num_turns) ?? 0);
  }
  return { id, cwd: narrowToString(data.cwd) ?? '', ...builder.build() };
}

type Place = { readonly model: string; readonly at: string | undefined; readonly builder: ConversationBuilder };

/** A compaction replaces the history, by a summary or by other items. */
function replaceHistory({ message, replacement_history: items }: JsonObject, place: Place): void {
  const replacement = narrowToObjects(items);
  const summary = narrowToString(message) ?? '';
  if (replacement.length === 0 && summary === '') return;
  place.builder.clear();
  if (replacement.length > 0) for (const item of replacement) addItem(item, place);
  else place.builder.addSummary(summary, place.at);
}

function addItem(item: JsonObject, { model, at, builder }: Place): void {
  const callId = narrowToString(item.call_id) ?? narrowToString(item.id) ?? '';
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') builder.addText(model, joinText(item.content), at);
      if (item.role === 'user') builder.addPrompt(readParts(item.content, builder), at);
      return;
    case 'reasoning':
      builder.countLoss('thought');
      return;
    case 'function_call': {
      const text = narrowToString(item.arguments) ?? '';
      const input = narrowToObject(parseNetworkJson(text)) ?? { arguments: text };
      builder.addCall(model, { id: callId, name: narrowToString(item.name) ?? '', input }, at);
      return;
    }
    case 'custom_tool_call':
      builder.addCall(
        model,
        { id: callId, name: narrowToString(item.name) ?? '', input: { input: item.input ?? '' } },
        at,
      );
      return;
    case 'local_shell_call': {
      const { command } = narrowToObject(item.action) ?? {};
      builder.addCall(model, { id: callId, name: 'shell', input: { command: command ?? [] } }, at);
      return;
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      builder.addResult(callId, readOutput(item.output, builder));
      return;
    default:
      builder.countLoss('entry');
      return;
  }
}

function readParts(content: JsonValue | undefined, builder: ConversationBuilder): readonly (TextBlock | ImageBlock)[] {
  return narrowToObjects(content).flatMap((part): readonly (TextBlock | ImageBlock)[] => {
    if (part.type === 'input_text') {
      const text = narrowToString(part.text) ?? '';
      return text.trim() === '' || INSERTED.test(text) ? [] : [{ type: 'text', text }];
    }
    const image = part.type === 'input_image' ? createImageBlock('', narrowToString(part.image_url) ?? '') : undefined;
    if (image === undefined) builder.countLoss('attachment');
    return image === undefined ? [] : [image];
  });
}

const joinText = (content: JsonValue | undefined) =>
  narrowToObjects(content)
    .map(({ text }) => narrowToString(text) ?? '')
    .join('');

/** An output is a text, a list of parts, or an object with the content; some are JSON in a text. */
function readOutput(output: JsonValue | undefined, builder: ConversationBuilder): string | readonly ResultBlock[] {
  if (Array.isArray(output))
    return readParts(output, builder).flatMap((part): readonly ResultBlock[] =>
      part.type === 'text' ? [part] : part.source.type === 'base64' ? [{ type: 'image', source: part.source }] : [],
    );
  if (typeof output !== 'string') return narrowToString(narrowToObject(output)?.content) ?? '';
  const wrapped = narrowToObject(parseNetworkJson(output));
  return narrowToString(wrapped?.output) ?? output;
}
