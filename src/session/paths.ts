import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** The folder of all sessions started in one directory. Readable, and unique even where slugs would meet. */
export function projectDir(ouroHome: string, realCwd: string): string {
  const slug = realCwd
    .replaceAll(/[^A-Za-z0-9.]+/g, '-')
    .replace(/^-/, '')
    .slice(-80);
  const mark = createHash('sha256').update(realCwd).digest('hex').slice(0, 8);
  return join(ouroHome, 'projects', `${slug || 'root'}-${mark}`);
}

export const transcriptPath = (dir: string, sessionId: string) => join(dir, `${sessionId}.jsonl`);

/** Big results, checkpoints and sub-agents of a session live beside its transcript. */
export const sessionFolder = (dir: string, sessionId: string) => join(dir, sessionId);

export const subagentPath = (folder: string, agentId: string) => join(folder, 'subagents', `agent-${agentId}.jsonl`);

/** Names the session of a directory that heard the last prompt: the clock may have been set back since. */
export const lastHeardPath = (dir: string) => join(dir, 'last-heard');

/** Where every process notes what it is in the middle of writing. */
export const unfinishedIn = (ouroHome: string) => join(ouroHome, 'unfinished');

/** Where every process tells the others what its tools write. */
export const sharedWritesIn = (ouroHome: string) => join(ouroHome, 'present', 'writes');
