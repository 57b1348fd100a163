import { accessSync, constants, statSync } from 'node:fs';
import type { QueuedMessage } from '../contracts/event.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { CheckpointEntry, SessionRecordBody, SessionWorkTotals } from '../contracts/session.ts';
import type { LiveSessionState, LiveSessionValues } from '../contracts/session-core.ts';
import { copyAsJson } from '../lib/json.ts';
import type { RebuiltSession } from './records/rebuild-session.ts';
import { decodeSessionSettings, type SessionSettings, toRecordedSettingNames } from './records/session-settings.ts';
import { parseRecordedRequestHead, type RecordedRequestHead, type RequestHead } from './request-head.ts';

/** Everything a resume restores besides the messages. */
export type ResumedSessionState = SessionSettings & {
  readonly title: RebuiltSession['title'];
  /** Id of the newest record, the parent of the next one. */
  readonly lastUuid: string | null;
  /** Head of the last request. */
  readonly requestHead: RecordedRequestHead | undefined;
  /** Hashes of the long texts already recorded. */
  readonly knownTexts: readonly string[];
  /** Messages that were queued and never delivered. */
  readonly queued: readonly QueuedMessage[];
  readonly checkpoints: readonly CheckpointEntry[];
  /** Recorded decisions of the context reduction, unparsed. */
  readonly context: readonly JsonObject[];
};

/** The counts of a session without any turn. */
export const NO_WORK_DONE: SessionWorkTotals = { turns: 0, added: 0, removed: 0 };

/** The state of a session that was not resumed. */
export const NEW_SESSION_STATE: ResumedSessionState = {
  title: undefined,
  lastUuid: null,
  requestHead: undefined,
  knownTexts: [],
  queued: [],
  checkpoints: [],
  context: [],
};

/** Encodes changed settings of a session as a record. */
export function encodeSessionSettings(changed: SessionSettings): SessionRecordBody {
  return { type: 'system', subtype: 'live', data: toRecordedSettingNames(copyAsJson(changed)) };
}

/** Decodes the state of a stored session; unreadable fields are omitted. */
export function decodeSessionState({
  liveSettings,
  title,
  lastUuid,
  requestHead,
  queued,
  checkpoints,
  context,
}: RebuiltSession): ResumedSessionState {
  const { cwd, ...settings } = decodeSessionSettings(liveSettings);
  return {
    ...settings,
    // The folder may have been deleted or closed since.
    cwd: cwd !== undefined && canEnterFolder(cwd) ? cwd : undefined,
    title,
    lastUuid,
    requestHead: requestHead.head,
    knownTexts: [...requestHead.texts.keys()],
    queued,
    checkpoints,
    context,
  };
}

function canEnterFolder(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The request head and announced facts of an earlier run, to be sent again byte for byte. */
export type PreviousRequestHead = RequestHead & Pick<ResumedSessionState, 'announced' | 'instructions'>;

type PromptFlags = Pick<CliRunOptions, 'systemPrompt' | 'appendSystemPrompt' | 'agent'>;

/** Encodes the flags that shape the system prompt as one comparable text. */
export function encodePromptFlags({ systemPrompt, appendSystemPrompt, agent }: PromptFlags): string {
  return JSON.stringify([systemPrompt ?? '', appendSystemPrompt ?? '', agent ?? '']);
}

/** Returns what a resume sends again; nothing in a new session, after an update of ouro, or with other prompt flags. */
export function findPreviousRequestHead(
  { requestHead, announced, instructions, promptFlags: flags = encodePromptFlags({}) }: ResumedSessionState,
  options: PromptFlags,
  version: string,
): { readonly sent: PreviousRequestHead | undefined; readonly notice: string | undefined } {
  if (requestHead === undefined) return { sent: undefined, notice: undefined };
  if (requestHead.version !== version) {
    const notice = `This session was started with ouro ${requestHead.version}; ouro ${version} renders its system prompt again.`;
    return { sent: undefined, notice };
  }
  if (flags !== encodePromptFlags(options)) return { sent: undefined, notice: undefined };
  return { sent: { ...parseRecordedRequestHead(requestHead), announced, instructions }, notice: undefined };
}

/** Creates the holder of the session values that may change during a run; listeners get every change. */
export function createLiveSessionState(initial: LiveSessionValues): LiveSessionState {
  let live = initial;
  const listeners: ((part: Partial<LiveSessionValues>, live: LiveSessionValues) => void)[] = [];
  return {
    current: () => live,
    update(part) {
      live = { ...live, ...part };
      for (const listener of listeners) listener(part, live);
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
