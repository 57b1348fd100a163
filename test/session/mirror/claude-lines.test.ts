import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getSessionMessages } from '@anthropic-ai/claude-agent-sdk';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { listMessageBlocks, type Message } from '../../../src/contracts/message.ts';
import type { SessionRecordBody } from '../../../src/contracts/session.ts';
import { createClaudeTranscriptConverter } from '../../../src/session/mirror/claude-lines.ts';
import { parseSessionRecords } from '../../../src/session/records/parse-session-records.ts';
import { rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { runs } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { buildConversation, exchanges, memoryDisk, openTest } from '../conversation-events.ts';

let home = '';
const before = process.env.CLAUDE_CONFIG_DIR;
beforeAll(async () => {
  home = createTempFolder();
  process.env.CLAUDE_CONFIG_DIR = home;
  await mkdir(join(home, 'projects', '-somewhere'), { recursive: true });
});
afterAll(async () => {
  if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
  else process.env.CLAUDE_CONFIG_DIR = before;
});

/** What happens to a conversation after something was said. */
const fate = fc.oneof(
  fc.constant('goes on' as const),
  fc.record({ back: fc.nat({ max: 8 }) }),
  fc.record({ keep: fc.nat({ max: 6 }) }),
);

test('the SDK reads from the lines what ouro would send, also after a rewind, a compaction and an undo', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ said: exchanges, fate }), { minLength: 1, maxLength: 4 }), async (begun) => {
      // Where a conversation went back to is told by what is said next.
      const parts = [...begun, { said: [{ prompt: 'end', replies: [] }], fate: 'goes on' as const }];
      const disk = memoryDisk();
      const { transcript } = openTest({ ouroHome: home, fs: disk.fs });
      const { events } = buildConversation(parts.flatMap(({ said }) => said));
      let reported = 0;
      for (const { said, fate: what } of parts) {
        const upTo = reported + buildConversation(said).events.length;
        for (const event of events.slice(reported, upTo)) await transcript.recordEvent(event);
        reported = upTo;
        const body =
          what === 'goes on'
            ? undefined
            : bodyOf(what, rebuildSession(parseSessionRecords(disk.text()).records).messages);
        if (body !== undefined) await transcript.append(body);
      }
      await transcript.close();
      const { records } = parseSessionRecords(disk.text());
      const sessionId = crypto.randomUUID();
      const linesOf = createClaudeTranscriptConverter({ sessionId });
      const lines = records.flatMap(linesOf).map((line) => `${JSON.stringify(line)}\n`);
      await writeFile(join(home, 'projects', '-somewhere', `${sessionId}.jsonl`), lines.join(''));
      const read = await getSessionMessages(sessionId);
      const sent = rebuildSession(records).messages.flatMap((message) =>
        listMessageBlocks(message).map(({ type, ...block }) => gist(type, block)),
      );
      // What stands beside results is marked as no words of a person, and not read.
      expect(read.flatMap(({ message }) => partsOf(message))).toEqual(
        sent.filter((words) => !words.startsWith('text: note msg-')),
      );
    }),
    runs(40),
  );
});

/** A compaction that keeps the end, or going back to one of the prompts. */
function bodyOf(
  what: { readonly back: number } | { readonly keep: number },
  messages: readonly Message[],
): SessionRecordBody | undefined {
  if ('back' in what) {
    const prompts = messages.filter((message) => message.role === 'user' && message.origin === 'prompt');
    const messageId = prompts.at(-1 - what.back)?.id;
    return messageId === undefined ? undefined : { type: 'system', subtype: 'rewind', data: { messageId } };
  }
  const id = crypto.randomUUID();
  const summary = { role: 'user', id: `s-${id}`, origin: 'summary', blocks: [{ type: 'text', text: id }] } as const;
  const kept = messages.slice(messages.length - Math.min(what.keep, messages.length));
  const from = kept.findIndex((message) => message.role === 'user' && message.origin === 'prompt');
  return {
    type: 'compact-boundary',
    boundary: { role: 'boundary', id: `b-${id}`, trigger: 'manual', preTokens: 10 },
    messages: [summary, ...(from === -1 ? [] : kept.slice(from))],
    postTokens: 1,
  };
}

const gist = (type: string, block: object) => {
  const { text, id, tool_use_id: answered } = { text: undefined, id: undefined, tool_use_id: undefined, ...block };
  return `${type}: ${text ?? id ?? answered}`;
};

const said = z.object({ content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) });

function partsOf(message: unknown): readonly string[] {
  const { content } = said.parse(message);
  return typeof content === 'string' ? [`text: ${content}`] : content.map(({ type, ...block }) => gist(type, block));
}
