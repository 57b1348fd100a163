import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { truncate } from '../lib/text/format.ts';

/** Returns the folder of all sessions started in one directory: a readable slug, made unique by a hash. */
export function getProjectDir(ouroHome: string, realCwd: string): string {
  const slug = realCwd
    .replaceAll(/[^A-Za-z0-9.]+/g, '-')
    .replace(/^-/, '')
    .slice(-80);
  const mark = createHash('sha256').update(realCwd).digest('hex').slice(0, 8);
  return join(ouroHome, 'projects', `${slug || 'root'}-${mark}`);
}

/** Returns the folder of the worktrees of `-w`. Inside the repository they would be among its files. */
export const getWorktreesFolder = (root: string) => join(dirname(root), `${basename(root)}-worktrees`);

/** Returns the path of the transcript of a session. */
export const getTranscriptPath = (dir: string, sessionId: string) => join(dir, `${checkId(sessionId)}.jsonl`);

/** Returns the folder beside a transcript that holds large results, checkpoints and sub-agents. */
export const getSessionFolder = (dir: string, sessionId: string) => join(dir, checkId(sessionId));

/** Returns the file that holds the unfinished reply of a session. */
export const getReplyJournalPath = (dir: string, sessionId: string) =>
  join(dir, 'answers', `${checkId(sessionId)}.json`);

/** Returns the path of a sub-agent's transcript inside the session folder. */
export const getSubAgentPath = (folder: string, agentId: string) =>
  join(folder, 'subagents', `${checkId(`agent-${agentId}`)}.jsonl`);

/** Returns the file that names the last prompted session of a directory; file times fail after a clock change. */
export const getLastPromptedSessionFile = (dir: string) => join(dir, 'last-heard');

/** Returns the folder in which every process records the writes it has not finished. */
export const getUnfinishedWritesDir = (ouroHome: string) => join(ouroHome, 'unfinished');

/** Returns the folder in which every process announces to the others what its tools write. */
export const getCrossProcessWritesDir = (ouroHome: string) => join(ouroHome, 'present', 'writes');

/** An id that becomes a path has to be one plain name on every file system. */
const MAX_ID_BYTES = 200;
const RESERVED_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Returns an id that is one plain name; throws for any other, which might lead out of its folder. */
function checkId(id: string): string {
  const isPlain = /^[^\p{Cc}/\\:*?"<>|.\s][^\p{Cc}/\\:*?"<>|]*$/u.test(id) && !/[.\s]$/.test(id);
  if (isPlain && Buffer.byteLength(id) <= MAX_ID_BYTES && !RESERVED_NAME.test(id)) return id;
  const shown = JSON.stringify(truncate(id, 60));
  throw new TypeError(`The id ${shown} is not a plain name. Use letters, digits, "-", "_", "@" and "." within it.`);
}
