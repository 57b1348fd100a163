import { type JsonObject, narrowToNumber, narrowToObject, narrowToString } from '@ouro-cli/ouro/commands';
import type { ImageBlock, TextBlock } from '@ouro-cli/ouro/sessions';
import {
  type ConversationBuilder,
  createConversationBuilder,
  createImageBlock,
  type ForeignSession,
  formatForeignModelName,
} from './foreign-session.ts';

/** A session of opencode as it is stored: three kinds of records, in files or in tables. */
export type OpencodeRecords = {
  readonly session: JsonObject;
  /** Messages with their parts, each in the order of their ids. */
  readonly messages: readonly { readonly info: JsonObject; readonly parts: readonly JsonObject[] }[];
};

/** Converts a session of opencode; sessions of its sub-agents are left out. */
export function convertOpencodeSession({ session, messages }: OpencodeRecords): ForeignSession | undefined {
  const id = narrowToString(session.id);
  if (id === undefined || typeof session.parentID === 'string') return undefined;
  const builder = createConversationBuilder(id);
  for (const { info, parts } of removeReverted(messages, narrowToObject(session.revert))) {
    const created = narrowToNumber(narrowToObject(info.time)?.created);
    const at = created === undefined ? undefined : new Date(created).toISOString();
    if (info.role === 'user') {
      builder.addPrompt(
        parts.flatMap((part) => readPromptPart(part, builder)),
        at,
      );
    } else if (info.summary === true && info.finish !== undefined && info.error === undefined) {
      builder.clear();
      builder.addSummary(parts.map(({ text }) => narrowToString(text) ?? '').join(''), at);
    } else {
      const model = formatForeignModelName(narrowToString(info.providerID), narrowToString(info.modelID));
      for (const part of parts) addReplyPart(part, { model, at, builder });
    }
  }
  const built = builder.build();
  const title = narrowToString(session.title);
  return {
    id,
    cwd: narrowToString(session.directory) ?? '',
    ...built,
    // The title until a model has found a better one.
    title: title === undefined || /^New session - \d/.test(title) ? built.title : title,
  };
}

/** Leaves out what was undone: the messages, or parts of one, from the one that the session names. */
function removeReverted(
  messages: OpencodeRecords['messages'],
  { messageID, partID }: JsonObject = {},
): OpencodeRecords['messages'] {
  const at = messages.findIndex(({ info }) => messageID !== undefined && info.id === messageID);
  const reverted = messages[at];
  if (reverted === undefined) return messages;
  const partAt = reverted.parts.findIndex(({ id }) => partID !== undefined && id === partID);
  const rest = partAt === -1 ? [] : [{ ...reverted, parts: reverted.parts.slice(0, partAt) }];
  return [...messages.slice(0, at), ...rest];
}

/** Texts that opencode itself inserts are marked as synthetic. */
function readPromptPart(part: JsonObject, builder: ConversationBuilder): readonly (TextBlock | ImageBlock)[] {
  if (part.type === 'text') {
    const text = narrowToString(part.text) ?? '';
    return text.trim() === '' || part.synthetic === true || part.ignored === true ? [] : [{ type: 'text', text }];
  }
  if (part.type !== 'file') return [];
  const image = createImageBlock(narrowToString(part.mime) ?? '', narrowToString(part.url) ?? '');
  if (image === undefined) builder.countLoss('attachment');
  return image === undefined ? [] : [image];
}

type Place = { readonly model: string; readonly at: string | undefined; readonly builder: ConversationBuilder };

function addReplyPart(part: JsonObject, { model, at, builder }: Place): void {
  switch (part.type) {
    case 'text':
      builder.addText(model, narrowToString(part.text) ?? '', at);
      return;
    case 'reasoning':
      builder.countLoss('thought');
      return;
    case 'tool': {
      const id = narrowToString(part.callID) ?? '';
      const { input, status, output, error } = narrowToObject(part.state) ?? {};
      builder.addCall(model, { id, name: narrowToString(part.tool) ?? '', input: input ?? {} }, at);
      if (status === 'completed') builder.addResult(id, narrowToString(output) ?? '');
      if (status === 'error') builder.addResult(id, narrowToString(error) ?? '', { isError: true });
      return;
    }
    case 'step-start':
    case 'step-finish':
    case 'compaction':
    // Names of states in a repository that opencode keeps beside the project.
    case 'patch':
    case 'snapshot':
      return;
    default:
      builder.countLoss('entry');
      return;
  }
}
