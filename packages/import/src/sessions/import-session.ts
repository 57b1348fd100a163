import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  createSessionRecordWriter,
  diskAppendFs,
  getProjectDir,
  getTranscriptPath,
  type Message,
  type SessionRecordBody,
  type ToolUseBlock,
} from '@ouro-cli/ouro/sessions';

/** A conversation to be stored as a session that can be resumed. */
export type ImportedSession = {
  readonly id: string;
  /** Real path of the folder that the session belongs to. */
  readonly cwd: string;
  readonly title: string | undefined;
  readonly messages: readonly Message[];
  /** Time of the last message; lists are sorted by it. */
  readonly updatedMs: number;
};

/** Returns whether a folder has a session with this id. */
export function hasSession(ouroHome: string, realCwd: string, id: string): boolean {
  return /^[\w-]+$/.test(id) && existsSync(getTranscriptPath(getProjectDir(ouroHome, realCwd), id));
}

/** Writes a session file; throws if it cannot be written. */
export async function storeImportedSession(
  { id, cwd, title, messages, updatedMs }: ImportedSession,
  { ouroHome, version }: { readonly ouroHome: string; readonly version: string },
): Promise<void> {
  const path = getTranscriptPath(getProjectDir(ouroHome, cwd), id);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  let nowMs = updatedMs;
  let problem: string | undefined;
  const options = { sessionId: id, cwd, gitBranch: undefined, version, lastUuid: null, fs: diskAppendFs };
  const writer = createSessionRecordWriter(
    {
      ...options,
      newId: randomUUID,
      now: () => nowMs,
      onNotice: (level, text) => {
        if (level === 'error') problem = text;
      },
    },
    path,
  );
  const calls = new Map<string, ToolUseBlock>();
  for (const message of messages) {
    nowMs = getTime(message) ?? nowMs;
    await Promise.all(createRecordBodies(message, calls).map(writer.append));
  }
  nowMs = updatedMs;
  if (title !== undefined) await writer.append({ type: 'title', title, by: 'model' });
  await writer.append({ type: 'system', subtype: 'agent_end', data: { terminal: { reason: 'completed' } } });
  await writer.sync();
  await writer.close();
  if (problem !== undefined) throw new Error(problem);
  await utimes(path, new Date(updatedMs), new Date(updatedMs));
}

function getTime(message: Message): number | undefined {
  const at = message.role === 'boundary' || message.at === undefined ? Number.NaN : Date.parse(message.at);
  return Number.isNaN(at) ? undefined : at;
}

/** Creates the records of a message, in the order in which a run writes them. */
function createRecordBodies(message: Message, calls: Map<string, ToolUseBlock>): readonly SessionRecordBody[] {
  if (message.role === 'assistant') {
    const { id: messageId, model, blocks, stopReason } = message;
    for (const block of blocks) if (block.type === 'tool_use') calls.set(block.id, block);
    return [
      ...blocks.map((block, index): SessionRecordBody => ({ type: 'assistant', messageId, model, index, block })),
      { type: 'reply', messageId, model, kept: blocks.map((_, index) => index), ...(stopReason && { stopReason }) },
    ];
  }
  if (message.role !== 'user') return [];
  const results = message.blocks.filter((block) => block.type === 'tool_result');
  if (results.length === 0) return [{ type: 'user', message }];
  return [
    ...results.map((result): SessionRecordBody => {
      const callId = result.tool_use_id;
      const status = result.is_error === true ? 'failed' : 'done';
      return { type: 'result', callId, tool: calls.get(callId)?.name ?? '', result, status, durationMs: 0 };
    }),
    { type: 'user', message: { ...message, blocks: [] }, results: results.map((result) => result.tool_use_id) },
  ];
}
