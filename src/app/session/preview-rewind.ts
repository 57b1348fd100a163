import { readFile } from 'node:fs/promises';
import type { ControlPort } from '../../contracts/face/host.ts';
import { diffHunks } from '../../lib/text/diff-hunks.ts';
import type { SessionCheckpoints } from './checkpoints.ts';

/** What going back to a message would change on disk, in files and lines. */
export async function previewRewind(
  checkpoints: Pick<SessionCheckpoints, 'list' | 'preview'> | undefined,
  messageId: string,
): ReturnType<ControlPort['previewRewind']> {
  const point = (await checkpoints?.list())?.find((one) => one.messageId === messageId);
  const changes = point === undefined ? undefined : await checkpoints?.preview(point.id);
  if (changes === undefined) return { ok: false, why: 'There is no checkpoint for that message.' };
  let insertions = 0;
  let deletions = 0;
  for (const { path, bytes } of changes) {
    const now = await readFile(path, 'utf8').catch(() => '');
    const before = bytes === undefined ? '' : new TextDecoder().decode(bytes);
    const lines = diffHunks(now, before).flatMap((hunk) => hunk.lines);
    insertions += lines.filter((line) => line.startsWith('+')).length;
    deletions += lines.filter((line) => line.startsWith('-')).length;
  }
  return { ok: true, files: changes.map(({ path }) => path), insertions, deletions };
}
