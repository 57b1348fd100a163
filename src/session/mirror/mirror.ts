import { join } from 'node:path';
import type { JsonObject } from '../../contracts/json.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { messageOf } from '../../lib/errors.ts';
import { writePrivately } from '../../lib/files/private-file.ts';
import { shortHash } from '../../lib/text/short-hash.ts';
import { sessionFolder, subagentPath, transcriptPath } from '../paths.ts';
import { type AppendFile, createAppendFile } from '../records/append-file.ts';
import { diskAppendFs } from '../records/append-fs.ts';
import { eachRecord } from '../records/read-transcript.ts';
import type { RecordReader } from '../records/transcript.ts';
import { agentsOf } from '../stored/subagents.ts';
import { type ClaudeLines, createClaudeLines } from './claude-lines.ts';

/** The conversation once more, in a file that programs for Claude Code read. Nobody waits for it but who reads it. */
export type Mirror = RecordReader & { readonly path: string };

export type MirrorOptions = {
  /** Where it goes: the folder that stands for `~/.claude`. */
  readonly root: string;
  /** The folder the session began in. */
  readonly cwd: string;
  readonly sessionId: string;
  /** Where our own file of the session lies. */
  readonly dir: string;
  /** An earlier run may have mirrored nothing, or not to the end. */
  readonly begins: 'empty' | 'with what is stored';
  readonly tell: (text: string) => void;
};

type Heard = { readonly record: SessionRecord; readonly agentId: string | undefined };
/** One of its files: of the conversation, or of a sub-agent. */
type Copy = { readonly place: string; readonly linesOf: ClaudeLines; readonly file: AppendFile };

export function createMirror(options: MirrorOptions): Mirror {
  const { root, cwd, sessionId, begins, tell } = options;
  const dir = join(root, 'projects', claudeSlug(cwd));
  const path = transcriptPath(dir, sessionId);
  const copies = new Map<string | undefined, Copy>();
  let heard: readonly Heard[] = [];
  let work: Promise<void> | undefined;
  let isCaughtUp = begins === 'empty';

  function copyOf(agentId: string | undefined): Copy {
    const known = copies.get(agentId);
    if (known !== undefined) return known;
    const place = agentId === undefined ? path : subagentPath(sessionFolder(dir, sessionId), agentId);
    const file = createAppendFile(place, diskAppendFs, (news) => {
      if (news.what === 'failed') tell(`The transcript could not be mirrored (${news.why}): ${place}. ouro goes on.`);
    });
    const copy = {
      place,
      file,
      linesOf: createClaudeLines({ sessionId, ...(agentId === undefined ? {} : { agentId }) }),
    };
    copies.set(agentId, copy);
    return copy;
  }

  /** What earlier runs said is written anew: whether they mirrored it, and how far, does not matter. */
  async function catchUp(): Promise<void> {
    isCaughtUp = true;
    const own = transcriptPath(options.dir, sessionId);
    const folder = sessionFolder(options.dir, sessionId);
    for (const agentId of [undefined, ...(await agentsOf(folder))]) {
      const { place, linesOf } = copyOf(agentId);
      const lines: string[] = [];
      await eachRecord(agentId === undefined ? own : subagentPath(folder, agentId), (record) => {
        // What is said meanwhile is heard before it stands in the file.
        if (!heard.some((one) => one.record.uuid === record.uuid)) lines.push(asText(linesOf(record)));
      });
      await writePrivately(place, lines.join(''));
    }
  }

  async function writeHeard(): Promise<void> {
    if (!isCaughtUp)
      await catchUp().catch((thrown: unknown) => tell(`The transcript could not be mirrored: ${messageOf(thrown)}`));
    const batch = heard;
    heard = [];
    const written = [...new Set(batch.map(({ agentId }) => agentId))].map((agentId) => {
      const { file, linesOf } = copyOf(agentId);
      const lines = batch.flatMap((one) => (one.agentId === agentId ? linesOf(one.record) : []));
      return lines.length === 0 ? undefined : file.append(asText(lines));
    });
    await Promise.all(written);
  }

  async function flush(): Promise<void> {
    while (heard.length > 0) {
      work ??= writeHeard().finally(() => {
        work = undefined;
      });
      await work;
    }
    await work;
  }

  return {
    path,
    hear(record, agentId) {
      heard = [...heard, { record, agentId }];
    },
    flush,
    async close() {
      await flush();
      await Promise.all([...copies.values()].map(({ file }) => file.close()));
    },
  };
}

const asText = (lines: readonly JsonObject[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

const LONGEST_SLUG = 200;

/** The name of a folder's sessions there. */
function claudeSlug(cwd: string): string {
  const slug = cwd.replaceAll(/[^A-Za-z0-9]/g, '-');
  return slug.length <= LONGEST_SLUG ? slug : `${slug.slice(0, LONGEST_SLUG)}-${shortHash(cwd, 6)}`;
}
