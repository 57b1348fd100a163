import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { dirname } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { ModelEvent, ModelPort } from '../contracts/model.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { createReplayPort, type Exchange, withRecord } from './record-replay.ts';
import { isRetryable } from './stream/error-response.ts';
import { mergeDelta } from './stream/merge-deltas.ts';

/** The folders that differ between machines. A recording contains their names in place of their paths. */
export type MachineFolders = { readonly workspace: string; readonly ouroHome: string; readonly home: string };

/**
 * Wraps a port so that its replies are recorded to a file, one exchange per line; or returns a port that replays the
 * file without any network access. In a replay, a request that is not in the file fails with its first difference.
 */
export async function openRecordedModel(
  port: ModelPort,
  { mode, file }: NonNullable<Environment['modelRecording']>,
  folders: MachineFolders,
): Promise<ModelPort> {
  const normalize = createRequestNormalizer(folders);
  if (mode === 'replay') {
    const lines = ((await ignoreMissingFile(readFile(file, 'utf8'))) ?? '').split('\n').filter((line) => line !== '');
    return createReplayPort(
      lines
        .map((line): Exchange => JSON.parse(restoreFolders(line, folders)))
        .map((exchange) => ({
          ...exchange,
          // The folders were restored in the whole line.
          request: normalize(exchange.request),
        })),
      normalize,
    );
  }
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  return withRecord(port, (exchange) => {
    const { outcome } = exchange;
    // The repetition of a request that failed for a moment is recorded instead.
    if (!outcome.ok && (outcome.failure.kind === 'aborted' || isRetryable(outcome.failure))) return;
    const recorded = { ...exchange, request: normalize(exchange.request), events: mergeDeltas(exchange.events) };
    appendFileSync(file, `${hideFolders(JSON.stringify(recorded), folders)}\n`);
  });
}

/** The values that differ between two runs of the same task without being a difference of the request. */
const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<date>'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds)\b/g, '<time>'],
  [/\b(duration_ms:?) \d+(?:\.\d+)?/g, '$1 <time>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g, '<hash>'],
];

function createRequestNormalizer(folders: MachineFolders): (request: string) => string {
  return (request) =>
    VARIABLE_PARTS.reduce(
      (text, [pattern, name]) => text.replace(pattern, name),
      hideFolders(request, folders).replaceAll(release(), '<system>'),
    );
}

/** The longest path first: the workspace may be inside the home folder. */
const listFolders = ({ workspace, ouroHome, home }: MachineFolders) =>
  [
    ['{{workspace}}', workspace],
    ['{{ouroHome}}', ouroHome],
    ['{{home}}', home],
  ] as const;

const escapeJson = (path: string): string => JSON.stringify(path).slice(1, -1);

const hideFolders = (text: string, folders: MachineFolders): string =>
  listFolders(folders).reduce((hidden, [name, path]) => hidden.replaceAll(escapeJson(path), name), text);

const restoreFolders = (text: string, folders: MachineFolders): string =>
  listFolders(folders).reduce((restored, [name, path]) => restored.replaceAll(name, escapeJson(path)), text);

/** Merges the deltas of a block into one, so that no path is split, and leaves out the events of the provider. */
function mergeDeltas(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const merged: ModelEvent[] = [];
  for (const event of events) {
    const last = merged.at(-1);
    if (event.type === 'raw') continue;
    const joined = mergeDelta(last, event);
    if (joined === undefined) merged.push(event);
    else merged.splice(-1, 1, joined);
  }
  return merged;
}
