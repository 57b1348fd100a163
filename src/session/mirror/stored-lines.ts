import { dirname } from 'node:path';
import { sessionFolder, subagentPath } from '../paths.ts';
import { readTranscript } from '../records/read-records.ts';
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
  const { records } = await readTranscript(path);
  const linesOf = createClaudeLines(speaker);
  return records
    .flatMap(linesOf)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}
