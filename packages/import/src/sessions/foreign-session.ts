import {
  formatCount,
  type JsonObject,
  type JsonValue,
  narrowToObject,
  parseNetworkJson,
} from '@ouro-cli/ouro/commands';
import type {
  AssistantMessage,
  ImageBlock,
  Message,
  ResultBlock,
  TextBlock,
  ToolResultBlock,
  UserMessage,
} from '@ouro-cli/ouro/sessions';

/**
 * A conversation with another assistant, converted to messages of ouro. Calls stay calls, under their own names: as
 * text they would teach the model to write calls as text. Thoughts are dropped, since their signatures are bound to a
 * model.
 */
export type ForeignSession = {
  /** The id that the other assistant uses. */
  readonly id: string;
  /** The folder in which it was started; empty if the file does not say. */
  readonly cwd: string;
  readonly title: string | undefined;
  readonly messages: readonly Message[];
  /** Descriptions of the content that the imported session lacks. */
  readonly lost: readonly string[];
};

/** The kinds of content that a converter can leave out. */
type LossKind = 'thought' | 'attachment' | 'entry' | 'open call';

/** A call as the other assistant recorded it. */
export type ForeignCall = { readonly id: string; readonly name: string; readonly input: JsonValue };

/** Collects the parts of a conversation in the order of the file. */
export type ConversationBuilder = ReturnType<typeof createConversationBuilder>;

type Reply = {
  readonly model: string;
  readonly blocks: (TextBlock | { type: 'tool_use'; id: string; name: string; input: JsonValue })[];
  readonly at: string | undefined;
  /** A result has arrived, so further blocks belong to the next reply. */
  hasResults: boolean;
};
type Entry = { readonly prompt: UserMessage } | { readonly reply: Reply };

const NO_RESULT = 'No result was recorded.';

/**
 * Creates a builder that returns messages every provider accepts: each call is followed by exactly one result. Ids of
 * messages are derived from the session, so that two imports give the same messages.
 */
export function createConversationBuilder(sessionId: string) {
  let entries: Entry[] = [];
  let results = new Map<string, ToolResultBlock>();
  /** Ids of calls as they are sent, by the ids in the file: a file may use one twice. */
  const callIds = new Map<string, string>();
  const usedIds = new Set<string>();
  const losses = new Map<LossKind, number>();
  let title: string | undefined;

  function addPrompt(blocks: UserMessage['blocks'], at: string | undefined): void {
    const id = `${sessionId}-${entries.length}`;
    entries.push({ prompt: { role: 'user', id, origin: 'prompt', blocks, ...(at === undefined ? {} : { at }) } });
  }

  function openReply(model: string, at: string | undefined): Reply {
    const last = entries.at(-1);
    if (last !== undefined && 'reply' in last && !last.reply.hasResults && last.reply.model === model)
      return last.reply;
    const reply: Reply = { model, blocks: [], at, hasResults: false };
    entries.push({ reply });
    return reply;
  }

  const countLoss = (kind: LossKind, count = 1) => void losses.set(kind, (losses.get(kind) ?? 0) + count);

  return {
    countLoss,
    /** Adds a message of the user; texts that programs have inserted are left out by the caller. */
    addPrompt(blocks: readonly (TextBlock | ImageBlock)[], at?: string) {
      if (blocks.length === 0) return;
      title ??= findTitle(blocks);
      addPrompt(blocks, at);
    },
    /** Adds the summary that a compaction has put in place of what came before. */
    addSummary(text: string, at?: string) {
      addPrompt([{ type: 'text', text: `Summary of the conversation so far:\n\n${text}` }], at);
    },
    /** Adds text of the model. */
    addText(model: string, text: string, at?: string) {
      if (text.trim() !== '') openReply(model, at).blocks.push({ type: 'text', text });
    },
    addCall(model: string, { id, name, input }: ForeignCall, at?: string) {
      const clean = cleanId(id);
      const callId = usedIds.has(clean) ? cleanId(`${usedIds.size}_${clean}`) : clean;
      usedIds.add(callId);
      callIds.set(id, callId);
      openReply(model, at).blocks.push({ type: 'tool_use', id: callId, name: cleanName(name), input });
    },
    /** Adds the result of a call; one without a call is ignored. */
    addResult(
      callId: string,
      content: string | readonly ResultBlock[],
      { isError = false }: { readonly isError?: boolean } = {},
    ) {
      const id = callIds.get(callId);
      if (id === undefined) return;
      results.set(id, { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) });
      const last = entries.at(-1);
      if (last !== undefined && 'reply' in last) last.reply.hasResults = true;
    },
    /** Starts anew: what came before was replaced by a summary. */
    clear() {
      entries = [];
      results = new Map();
    },
    /** Removes the last messages of the user, and everything after the first of them: they were taken back. */
    dropPrompts(count: number) {
      const prompts = entries.flatMap((entry, at) => ('prompt' in entry ? [at] : []));
      if (count > 0) entries = entries.slice(0, prompts.at(-count) ?? 0);
    },
    /** Returns the messages; the title is the first prompt that says what the conversation is about. */
    build(): Pick<ForeignSession, 'messages' | 'lost' | 'title'> {
      const messages = entries.flatMap((entry, at): readonly Message[] => {
        if ('prompt' in entry) return [entry.prompt];
        const calls = entry.reply.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
        countLoss('open call', calls.filter((id) => !results.has(id)).length);
        return buildReply(entry.reply, `${sessionId}-${at}`, calls, results);
      });
      return {
        title,
        messages,
        lost: [...losses].flatMap(([kind, count]) => (count === 0 ? [] : [describeLoss(kind, count)])),
      };
    },
  };
}

const TITLE_CHARS = 200;
/** The heading under which extensions of editors put what the user has typed. */
const REQUEST_HEADING = /^# Context from my IDE setup:[\s\S]*?^## My request for \w+:\s*/m;

/** Returns the text of a prompt as a title; `undefined` for commands, tags and remarks that programs insert. */
function findTitle(blocks: readonly (TextBlock | ImageBlock)[]): string | undefined {
  const texts = blocks.map((block) => (block.type === 'text' ? block.text.replace(REQUEST_HEADING, '').trim() : ''));
  const found = texts.find((text) => text !== '' && !/^(?:[<[/]|# Context from my IDE setup:|Caveat: )/.test(text));
  return found?.replaceAll(/\s+/g, ' ').slice(0, TITLE_CHARS);
}

function buildReply(
  { model, blocks, at }: Reply,
  id: string,
  calls: readonly string[],
  results: ReadonlyMap<string, ToolResultBlock>,
): readonly Message[] {
  const time = at === undefined ? {} : { at };
  const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn';
  const reply: AssistantMessage = { role: 'assistant', id, model, blocks, stopReason, ...time };
  if (calls.length === 0) return [reply];
  const answered = calls.map(
    (callId): ToolResultBlock =>
      results.get(callId) ?? { type: 'tool_result', tool_use_id: callId, content: NO_RESULT, is_error: true },
  );
  return [reply, { role: 'user', id: `${id}-results`, origin: 'results', blocks: answered, ...time }];
}

function describeLoss(kind: LossKind, count: number): string {
  switch (kind) {
    case 'thought':
      return `${formatCount(count, 'thought')} of the model, which are signed for its provider`;
    case 'attachment':
      return formatCount(count, 'attachment');
    case 'open call':
      return `${formatCount(count, 'result')} of calls that were interrupted`;
    default:
      return `${count} ${count === 1 ? 'entry' : 'entries'} of a kind that ouro does not have`;
  }
}

/** Providers accept these characters only. */
const cleanId = (id: string) => id.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'call';
const cleanName = (name: string) => name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown';

/** Parses the lines of a JSONL file; lines that are not objects are left out. */
export function parseJsonLines(text: string): readonly JsonObject[] {
  return text
    .split('\n')
    .map((line) => narrowToObject(parseNetworkJson(line)))
    .filter((line) => line !== undefined);
}

/** Creates an image block from a data URL or from base64; `undefined` for anything that is not an image. */
export function createImageBlock(mediaType: string, data: string): ImageBlock | undefined {
  const [, type = mediaType, bytes = data] = /^data:([^;,]+);base64,(.*)$/s.exec(data) ?? [];
  return /^image\/(?:png|jpeg|gif|webp)$/.test(type) && bytes !== ''
    ? { type: 'image', source: { type: 'base64', media_type: type, data: bytes } }
    : undefined;
}

/** Names a model as ouro does. */
export function formatForeignModelName(provider: string | undefined, model = 'unknown'): string {
  if (provider === undefined || provider === 'anthropic') return model;
  return `${provider === 'google' ? 'gemini' : provider}/${model}`;
}
