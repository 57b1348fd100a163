import { dirname } from 'node:path';
import { sessionFolder, subagentPath } from '../paths.ts';
import { eachRecord } from '../records/read-transcript.ts';
import { agentsOf } from '../stored/subagents.ts';
import { createClaudeLines } from './claude-lines.ts';

/** A stored session with its sub-agents in one text, as programs for Claude Code read it. */
export async function claudeTranscript({ id, path }: { readonly id: string; readonly path: string }): Promise<string> {
  const folder = sessionFolder(dirname(path), id);
  const main = await storedLines(path, { sessionId: id });
  const aside = await Promise.all(
    (await agentsOf(folder)).map((agentId) => storedLines(subagentPath(folder, agentId), { sessionId: id, agentId })),
  );
  return [main, ...aside].join('');
}

/** One file of records in the lines of the other format. */
async function storedLines(
  path: string,
  speaker: { readonly sessionId: string; readonly agentId?: string },
): Promise<string> {
  const linesOf = createClaudeLines(speaker);
  const lines: string[] = [];
  await eachRecord(path, (record) => {
    for (const line of linesOf(record)) lines.push(`${JSON.stringify(line)}\n`);
  });
  return lines.join('');
}
