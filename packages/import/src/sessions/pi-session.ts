import {
  type JsonObject,
  type JsonValue,
  narrowToObject,
  narrowToObjects,
  narrowToString,
} from '@ouro-cli/ouro/commands';
import type { ImageBlock, ResultBlock, TextBlock } from '@ouro-cli/ouro/sessions';
import {
  type ConversationBuilder,
  createConversationBuilder,
  createImageBlock,
  type ForeignSession,
  formatForeignModelName,
  parseJsonLines,
} from './foreign-session.ts';

/** Converts a session of pi: a header, and entries that are a tree; the last entry is the current position. */
export function convertPiSession(text: string): ForeignSession | undefined {
  const [header, ...entries] = parseJsonLines(text);
  const id = narrowToString(header?.id);
  if (header?.type !== 'session' || id === undefined) return undefined;
  const builder = createConversationBuilder(id);
  for (const entry of applyCompaction(listPath(entries))) addEntry(entry, builder);
  const title = entries
    .flatMap(({ type, name }) => (type === 'session_info' ? (narrowToString(name) ?? []) : []))
    .at(-1);
  const built = builder.build();
  return { id, cwd: narrowToString(header.cwd) ?? '', ...built, title: title ?? built.title };
}

/** Returns the entries from the root to the last one. The first version of the format had no parents. */
function listPath(entries: readonly JsonObject[]): readonly JsonObject[] {
  if (entries.every(({ parentId }) => parentId === undefined)) return entries;
  const byId = new Map(entries.map((entry) => [narrowToString(entry.id) ?? '', entry] as const));
  const path: JsonObject[] = [];
  const seen = new Set<JsonObject>();
  for (let entry = entries.at(-1); entry !== undefined && !seen.has(entry); ) {
    seen.add(entry);
    path.unshift(entry);
    entry = byId.get(narrowToString(entry.parentId) ?? '');
  }
  return path;
}

/** After a compaction its summary comes first, then the entries from the first kept one. */
function applyCompaction(path: readonly JsonObject[]): readonly JsonObject[] {
  const at = path.findLastIndex(({ type }) => type === 'compaction');
  const compaction = path[at];
  if (compaction === undefined) return path;
  const { firstKeptEntryId: keptId, firstKeptEntryIndex: keptIndex } = compaction;
  // The first version of the format had no ids; there the index counts the header, too.
  const from =
    typeof keptIndex === 'number' ? keptIndex - 1 : path.findIndex(({ id }) => id !== undefined && id === keptId);
  const kept = from < 0 ? [] : path.slice(from, at).filter(({ type }) => type !== 'compaction');
  return [compaction, ...kept, ...path.slice(at + 1)];
}

function addEntry(entry: JsonObject, builder: ConversationBuilder): void {
  const at = narrowToString(entry.timestamp);
  switch (entry.type) {
    case 'message':
      addMessage(narrowToObject(entry.message) ?? {}, at, builder);
      return;
    case 'compaction':
    case 'branch_summary':
      builder.addSummary(narrowToString(entry.summary) ?? '', at);
      return;
    case 'custom_message':
      builder.addPrompt(readParts(entry.content, builder), at);
      return;
    default:
      return;
  }
}

function addMessage(message: JsonObject, at: string | undefined, builder: ConversationBuilder): void {
  const { role, content } = message;
  if (role === 'user' || role === 'custom') {
    builder.addPrompt(readParts(content, builder), at);
    return;
  }
  if (role === 'toolResult') {
    const parts = readParts(content, builder).flatMap((part): readonly ResultBlock[] =>
      part.type === 'text' ? [part] : part.source.type === 'base64' ? [{ type: 'image', source: part.source }] : [],
    );
    builder.addResult(narrowToString(message.toolCallId) ?? '', parts, { isError: message.isError === true });
    return;
  }
  if (role === 'bashExecution') {
    const text = `I ran: ${narrowToString(message.command) ?? ''}\n\n${narrowToString(message.output) ?? ''}`;
    builder.addPrompt([{ type: 'text', text }], at);
    return;
  }
  if (role !== 'assistant') {
    builder.countLoss('entry');
    return;
  }
  const model = formatForeignModelName(narrowToString(message.provider), narrowToString(message.model));
  for (const block of narrowToObjects(content)) {
    if (block.type === 'text') builder.addText(model, narrowToString(block.text) ?? '', at);
    else if (block.type === 'thinking') builder.countLoss('thought');
    else if (block.type === 'toolCall')
      builder.addCall(
        model,
        { id: narrowToString(block.id) ?? '', name: narrowToString(block.name) ?? '', input: block.arguments ?? {} },
        at,
      );
    else builder.countLoss('entry');
  }
}

function readParts(content: JsonValue | undefined, builder: ConversationBuilder): readonly (TextBlock | ImageBlock)[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ type: 'text', text: content }];
  return narrowToObjects(content).flatMap((part): readonly (TextBlock | ImageBlock)[] => {
    if (part.type === 'text') return [{ type: 'text', text: narrowToString(part.text) ?? '' }];
    const image = createImageBlock(narrowToString(part.mimeType) ?? '', narrowToString(part.data) ?? '');
    if (image === undefined) builder.countLoss('attachment');
    return image === undefined ? [] : [image];
  });
}
