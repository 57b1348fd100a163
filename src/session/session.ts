import { join } from 'node:path';
import type { AgentListener } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Conversation } from '../contracts/frontend/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import { isTypedByUser } from '../contracts/message.ts';
import type { ModelPort } from '../contracts/model.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { GitRepository } from '../git/git-repository.ts';
import type { KnownKeys } from '../lib/text/known-keys.ts';
import { createTitleGenerator } from '../model/generate-title.ts';
import type { ModelRegistry } from '../model/registry/model-registry.ts';
import type { UsageMeter } from '../model/usage-meter.ts';
import type { ProcessLedger } from '../tools/bash/run-shell.ts';
import { createDraftStore } from './input/draft-store.ts';
import { createPromptHistory } from './input/prompt-history.ts';
import { type ClaudeTranscriptMirror, createClaudeTranscriptMirror } from './mirror/claude-transcript-mirror.ts';
import type { OpenedSession } from './open-run-session.ts';
import {
  encodePromptFlags,
  encodeSessionSettings,
  findPreviousRequestHead,
  NO_WORK_DONE,
  type PreviousRequestHead,
} from './persisted-state.ts';
import { openDebugLog } from './records/debug-log.ts';
import { createSealContext, sealRecordedPermissions } from './records/permission-seal.ts';
import { recordRequests } from './records/record-requests.ts';
import { openTranscript, type SessionTranscript } from './records/session-transcript.ts';
import { createTitleListener } from './records/title-listener.ts';
import { createReplyJournal } from './reply-journal.ts';
import type { RegisteredRun } from './run-cleanup-log.ts';

/** The parts of a conversation that outlive the process. */
export type Session = Pick<Conversation, 'draft' | 'history'> & {
  readonly opened: OpenedSession;
  readonly transcript: SessionTranscript;
  /** Ledger of started and ended commands, for the transcript and for the next start. */
  readonly ledger: ProcessLedger;
  /** Model port that records each request before it is sent. */
  readonly recordedPort: ModelPort;
  /** Prompt parts that an earlier run of this session sent; they are repeated byte for byte. */
  readonly sentBefore: PreviousRequestHead | undefined;
  readonly warnings: readonly string[];
  /** Transcript path for hooks and status lines; `caughtUp` resolves when it is complete. */
  readonly publishedTranscript: { readonly path: string; readonly caughtUp: () => Promise<void> };
  /** Listener of `--debug`, which runs last. */
  readonly debugLog: AgentListener | undefined;
  /** Records an event. When it resolves, the event is on disk. */
  record(event: AgentEvent): Promise<void>;
  /** Registers further state for a resume; it is saved after each run. */
  addSavedState(part: () => JsonObject): void;
};

/** The values of a conversation that are recorded, and what recording needs. */
type RecordedCore = SessionCore & {
  readonly repository: GitRepository;
  readonly knownKeys: KnownKeys;
  readonly model: ModelRegistry;
  readonly smallModel: () => string | undefined;
  readonly meter: UsageMeter;
};

type SessionDeps = { readonly opened: OpenedSession; readonly started: RegisteredRun };

/** Creates the session: the transcript, the draft, the history and the saved state. */
export function createSession(core: RecordedCore, { opened, started }: SessionDeps): Session {
  const { options, live } = core;
  const mirror = createTranscriptMirror(core, opened);
  const transcript = sealPermissions(core, opened, openSessionTranscript(core, opened, mirror));
  // Not awaited: lines keep their order, so these are on disk before the next prompt.
  for (const record of opened.repairs) void transcript.append(record);
  live.onChange((part) => {
    void transcript.append(encodeSessionSettings(part));
    if (part.mode !== undefined) void core.bus.emit({ type: 'mode', mode: part.mode });
  });
  const { sent, notice } = findPreviousRequestHead(opened.stored, options, core.environment.version);
  const updateTitle = createTitleListener(
    live,
    transcript,
    // For interactive sessions only: others should not pay for the request.
    options.frontend === 'screen' || options.frontend === 'editor'
      ? createTitleGenerator({ port: core.model.port, smallModel: core.smallModel }, core.meter.addReply)
      : undefined,
  );
  const savedState = createStateSaver(core, transcript, opened);
  const { dir, id: sessionId, isResumed } = opened;
  const leftover = isResumed ? 'words' : 'nothing';
  const answerJournal =
    options.persistence === 'memory'
      ? undefined
      : createReplyJournal({ dir, sessionId, leftover, removeKeys: core.knownKeys.remove });
  const debugLog = openDebugLog(options, core.environment.ouroHome, opened.id, {
    now: () => new Date(core.now()),
    removeKeys: core.knownKeys.remove,
  });
  return {
    opened,
    transcript,
    ledger: started.createLedger(transcript),
    recordedPort: recordRequests(transcript, opened.stored.knownTexts, core.knownKeys)(core.model.port),
    sentBefore: sent,
    warnings: [debugLog?.message, ...opened.warnings, notice].filter((text) => text !== undefined),
    publishedTranscript:
      mirror === undefined
        ? { path: transcript.path ?? '', caughtUp: async () => undefined }
        : { path: mirror.path, caughtUp: mirror.flush },
    debugLog: debugLog?.onEvent,
    async record(event) {
      await savedState.onEvent(event);
      await transcript.recordEvent(event);
      await answerJournal?.onEvent(event);
      updateTitle(event);
    },
    addSavedState: savedState.add,
    ...(options.persistence === 'memory' ? IN_MEMORY_INPUT : openInputStores(core, opened)),
  };
}

/** Seals what records of the session permit, so that a resume restores only what this installation has written. */
function sealPermissions(
  { environment: { ouroHome } }: RecordedCore,
  { dir, id }: OpenedSession,
  transcript: SessionTranscript,
): SessionTranscript {
  if (transcript.path === undefined) return transcript;
  const context = createSealContext(ouroHome, dir);
  return {
    ...transcript,
    append: (body) => transcript.append(sealRecordedPermissions(body, id, context)),
  };
}

function openSessionTranscript(
  { options, environment, cwd, repository, knownKeys, bus, newId, now }: RecordedCore,
  opened: OpenedSession,
  mirror: ClaudeTranscriptMirror | undefined,
): SessionTranscript {
  return openTranscript({
    dir: opened.dir,
    cwd,
    sessionId: opened.id,
    gitBranch: repository.initialBranch,
    version: environment.version,
    lastUuid: opened.stored.lastUuid,
    persistence: options.persistence,
    title: opened.stored.title,
    lock: opened.lock,
    mirror,
    removeKeys: knownKeys.remove,
    newId,
    now,
    onNotice: (level, text) => void bus.emit({ type: 'notice', level, topic: 'session_store', text }),
  });
}

/** Creates the mirror in Claude Code's format, if the settings ask for one. */
function createTranscriptMirror(
  { options, environment, settings, cwd, knownKeys, bus }: RecordedCore,
  opened: OpenedSession,
): ClaudeTranscriptMirror | undefined {
  const mirrorRoot = settings.current().transcriptMirror;
  if (mirrorRoot === undefined || options.persistence === 'memory') return undefined;
  return createClaudeTranscriptMirror({
    root: mirrorRoot.replace(/^~(?=\/|$)/, environment.home),
    cwd: opened.startedIn ?? cwd,
    sessionId: opened.id,
    dir: opened.dir,
    initialContent: opened.isResumed ? 'with what is stored' : 'empty',
    removeKeys: knownKeys.remove,
    onProblem: (text) => void bus.emit({ type: 'notice', level: 'warn', topic: 'session_store', text }),
  });
}

/** Creates the saver of the state for a resume: all of it with the first message, then changes after each run. */
function createStateSaver(
  { options, live, meter }: RecordedCore,
  { append }: SessionTranscript,
  { stored: { worked: earlier = NO_WORK_DONE } }: OpenedSession,
) {
  const parts: (() => JsonObject)[] = [];
  let hasStarted = false;
  let written = '';
  let turns = earlier.turns;
  const computeWork = () => {
    const { added, removed } = meter.createReport().lines;
    return { turns, added: Math.max(0, earlier.added + added), removed: Math.max(0, earlier.removed + removed) };
  };
  return {
    add: (part: () => JsonObject) => void parts.push(part),
    async onEvent(event: AgentEvent): Promise<void> {
      if (!hasStarted && event.type === 'message_end') {
        hasStarted = true;
        await append(encodeSessionSettings({ ...live.current(), promptFlags: encodePromptFlags(options) }));
      }
      if (event.type === 'message_end' && isTypedByUser(event.message)) turns += 1;
      if (event.type !== 'agent_end') return;
      // `worked` is the last key: session lists search for it from the end of the file.
      const record = encodeSessionSettings(
        Object.assign({}, ...parts.map((part) => part()), { worked: computeWork() }),
      );
      const text = JSON.stringify(record);
      if (text === written) return;
      written = text;
      await append(record);
    },
  };
}

/** Opens the stores for the draft and the prompt history. */
function openInputStores({ environment, cwd, now }: RecordedCore, { id: sessionId, dir, isResumed }: OpenedSession) {
  return {
    draft: createDraftStore({ dir, sessionId, opening: isResumed ? 'resumed' : 'new', now }),
    history: createPromptHistory({ path: join(environment.ouroHome, 'history.jsonl'), cwd, sessionId, now }),
  };
}

const IN_MEMORY_INPUT: Pick<Conversation, 'draft' | 'history'> = {
  draft: { load: async () => undefined, save: () => undefined, clear: async () => undefined },
  history: { listRecent: async () => [], add: async () => undefined },
};
