import fc from 'fast-check';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { AssistantBlock, Message, ToolResultBlock } from '../../src/contracts/message.ts';
import type { AppendFs } from '../../src/lib/files/append-fs.ts';
import { getProjectDir } from '../../src/session/paths.ts';
import {
  openTranscript,
  type SessionTranscript,
  type SessionTranscriptOptions,
} from '../../src/session/records/session-transcript.ts';

/** One exchange of a conversation: what was asked, and the replies with how many calls each made. */
export type Exchange = { readonly prompt: string; readonly replies: readonly Reply[] };
export type Reply = { readonly text: string; readonly calls: number; readonly fate: 'kept' | 'tombstoned' };

const reply = fc.record({
  text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  calls: fc.nat({ max: 3 }),
  fate: fc.constantFrom('kept' as const, 'kept' as const, 'tombstoned' as const),
});

export const exchanges = fc.array(
  fc.record({
    prompt: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    replies: fc.array(reply, { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
);

const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The events an agent tells for these exchanges, and the messages it then holds. */
export function buildConversation(said: readonly Exchange[]): {
  readonly events: readonly AgentEvent[];
  readonly messages: readonly Message[];
} {
  const events: AgentEvent[] = [];
  const messages: Message[] = [];
  let count = 0;
  const newId = (kind: string) => {
    count += 1;
    return `${kind}-${count}`;
  };
  const join = (message: Message) => {
    messages.push(message);
    events.push({ type: 'message_end', message });
  };
  for (const { prompt, replies } of said) {
    join({ role: 'user', id: newId('user'), origin: 'prompt', blocks: [{ type: 'text', text: prompt }] });
    for (const [turn, { text, calls, fate }] of replies.entries()) {
      const id = newId('msg');
      events.push({ type: 'turn_start', turn, model: 'm' });
      events.push({ type: 'message_start', messageId: id, role: 'assistant', model: 'm', usage: USAGE });
      const blocks: AssistantBlock[] = [
        { type: 'text', text },
        ...Array.from({ length: calls }, () => ({
          type: 'tool_use' as const,
          id: newId('call'),
          name: 'Echo',
          input: { text },
        })),
      ];
      for (const [index, block] of blocks.entries())
        events.push({ type: 'block_end', messageId: id, index, model: 'm', block });
      if (fate === 'tombstoned') {
        events.push({ type: 'tombstone', messageId: id, why: 'test' });
        continue;
      }
      join({ role: 'assistant', id, model: 'm', blocks, stopReason: 'end_turn', usage: USAGE });
      const results: ToolResultBlock[] = [];
      for (const block of blocks) {
        if (block.type !== 'tool_use') continue;
        const result: ToolResultBlock = { type: 'tool_result', tool_use_id: block.id, content: `out of ${block.id}` };
        results.push(result);
        events.push({ type: 'tool_end', callId: block.id, tool: 'Echo', result, status: 'done', durationMs: 1 });
      }
      if (results.length > 0) {
        const note = { type: 'text' as const, text: `note ${id}` };
        join({ role: 'user', id: newId('user'), origin: 'results', blocks: [...results, note] });
      }
      events.push({ type: 'turn_end', turn, model: 'm', durationMs: 1 });
    }
  }
  return { events, messages };
}

/** A transcript whose lines are kept in memory; `fs` may be one that fails. */
export function openTest({ ouroHome, ...more }: Partial<SessionTranscriptOptions> & { readonly ouroHome: string }): {
  readonly transcript: SessionTranscript;
  readonly reported: readonly string[];
} {
  const reported: string[] = [];
  let count = 0;
  const transcript = openTranscript({
    cwd: '/somewhere',
    dir: getProjectDir(ouroHome, '/somewhere'),
    sessionId: 'session-1',
    gitBranch: 'main',
    version: '0.0.0',
    lastUuid: null,
    persistence: 'disk',
    newId: () => {
      count += 1;
      return `uuid-${count}`;
    },
    now: () => 1_700_000_000_000 + count,
    onNotice: (level, text) => reported.push(`${level}: ${text}`),
    lock: { release: () => Promise.resolve() },
    unsavedParents: [],
    ...more,
  });
  return { transcript, reported };
}

/** A disk in memory that refuses what it is told to refuse, after writing as much as it likes. */
export function memoryDisk(refuse: (write: number) => number | undefined = () => undefined): {
  readonly fs: AppendFs;
  readonly text: () => string;
} {
  let text = '';
  let writes = 0;
  return {
    text: () => text,
    fs: {
      open: async () => ({
        endsWithNewline: text === '' || text.endsWith('\n'),
        write: async (more) => {
          writes += 1;
          const upTo = refuse(writes);
          text += upTo === undefined ? more : more.slice(0, upTo);
          if (upTo !== undefined) throw new Error('ENOSPC: no space left on device');
        },
        sync: async () => undefined,
        close: async () => undefined,
      }),
    },
  };
}

/** Leaves out what a message gains by being stored. */
export function plain(messages: readonly Message[]): readonly unknown[] {
  return messages.map((message) => {
    const { at: _, ...rest } = message.role === 'boundary' ? { ...message, at: undefined } : message;
    return rest;
  });
}
