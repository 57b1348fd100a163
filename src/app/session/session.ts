import { join } from 'node:path';
import type { AgentListener } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { isTypedByPerson } from '../../contracts/message.ts';
import type { ModelPort } from '../../contracts/model.ts';
import { titleAsker } from '../../model/side/side-calls.ts';
import { openDebugLog } from '../../session/debug-log.ts';
import { createDraftStore } from '../../session/input/draft.ts';
import { createPromptHistory } from '../../session/input/prompt-history.ts';
import { createMirror, type Mirror } from '../../session/mirror/mirror.ts';
import { openAside } from '../../session/records/aside.ts';
import { openTranscript, type Transcript } from '../../session/records/transcript.ts';
import { createAnswerJournal } from '../../session/running/answer-journal.ts';
import {
  encodeSettings,
  NO_WORK,
  promptFlags,
  type SentBefore,
  type SessionSettings,
  sentBefore,
} from '../../session/session-state.ts';
import type { ShellLedger } from '../../tools/bash/run-shell.ts';
import type { Core } from '../core.ts';
import { nameSession } from './name-session.ts';
import type { OpenedSession } from './open-session.ts';
import { recordRequests } from './record-requests.ts';
import type { StartedRun } from './start-run.ts';

/** Everything of a conversation that outlives its process. */
export type Session = Pick<Conversation, 'draft' | 'history'> & {
  readonly opened: OpenedSession;
  readonly transcript: Transcript;
  /** Commands that start and end, on record for people and for the next start. */
  readonly ledger: ShellLedger;
  /** The port of the conversation: each request is on record before its first byte leaves. */
  readonly recorded: ModelPort;
  /** What an earlier run of this session sent and told: repeated, not made anew. */
  readonly sentBefore: SentBefore | undefined;
  readonly warnings: readonly string[];
  /** The file that hooks and status lines are told of, and when it holds all that was said. */
  readonly published: { readonly path: string; readonly caughtUp: () => Promise<void> };
  /** `--debug`: hears everything, last of all. */
  readonly debugLog: AgentListener | undefined;
  /** The transcript's listener: what it was told is on disk when it resolves. */
  record(event: AgentEvent): Promise<void>;
  /** Something else that a resume has to know, asked whenever a prompt has been answered. */
  alsoKeep(part: () => SessionSettings): void;
};

type Needs = { readonly opened: OpenedSession; readonly started: StartedRun };

/** Opens the transcript and everything beside it that must outlive the process. */
export function createSession(core: Core, { opened, started }: Needs): Session {
  const { options, live } = core;
  const mirror = mirrorOf(core, opened);
  const transcript = transcriptOf(core, opened, mirror);
  // Nobody waits: lines keep their order, so these are on disk before the next prompt is.
  for (const record of opened.settled) void transcript.append(record);
  live.onChange((part) => {
    void transcript.append(encodeSettings(part));
    if (part.mode !== undefined) void core.bus.tell({ type: 'mode', mode: part.mode });
  });
  const { sent, notice } = sentBefore(opened.stored, options, core.environment.version);
  const nameIt = nameSession(
    live,
    transcript,
    titleAsker({ port: core.model.port, smallModel: core.smallModel }, options.face, core.meter.add),
  );
  const state = createStateKeeper(core, transcript, opened);
  const { dir, id: sessionId, isResumed } = opened;
  const left = isResumed ? 'words' : 'nothing';
  const answer = options.persistence === 'memory' ? undefined : createAnswerJournal({ dir, sessionId, left });
  const debugLog = openDebugLog(options, core.environment.ouroHome, opened.id, () => new Date(core.now()));
  return {
    opened,
    transcript,
    ledger: started.ledgerOf(transcript),
    recorded: recordRequests(transcript, opened.stored.knownTexts)(core.model.port),
    sentBefore: sent,
    warnings: [debugLog?.words, ...opened.warnings, notice].filter((words) => words !== undefined),
    published:
      mirror === undefined
        ? { path: transcript.path ?? '', caughtUp: async () => undefined }
        : { path: mirror.path, caughtUp: mirror.flush },
    debugLog: debugLog?.hear,
    async record(event) {
      await state.hear(event);
      await transcript.record(event);
      await answer?.hear(event);
      nameIt(event);
    },
    alsoKeep: state.add,
    ...(options.persistence === 'memory' ? NOTHING_KEPT : typedWords(core, opened)),
  };
}

function transcriptOf(
  { options, environment, cwd, repository, bus, newId, now }: Core,
  opened: OpenedSession,
  mirror: Mirror | undefined,
): Transcript {
  return openTranscript({
    dir: opened.dir,
    cwd,
    sessionId: opened.id,
    gitBranch: repository.branchAtStart,
    version: environment.version,
    lastUuid: opened.stored.lastUuid,
    persistence: options.persistence,
    title: opened.stored.title,
    claim: opened.claim,
    mirror,
    aside: openAside(opened.id),
    unsaved: opened.unsaved,
    newId,
    now,
    tell: (level, text) => void bus.tell({ type: 'notice', level, topic: 'session_store', text }),
  });
}

/** A copy for programs that read Claude Code's files, where the person wants one. */
function mirrorOf({ options, environment, settings, cwd, bus }: Core, opened: OpenedSession): Mirror | undefined {
  const wanted = settings.now().transcriptMirror;
  if (wanted === undefined || options.persistence === 'memory') return undefined;
  return createMirror({
    root: wanted.replace(/^~(?=\/|$)/, environment.home),
    cwd: opened.beganIn ?? cwd,
    sessionId: opened.id,
    dir: opened.dir,
    begins: opened.isResumed ? 'with what is stored' : 'empty',
    tell: (text) => void bus.tell({ type: 'notice', level: 'warn', topic: 'session_store', text }),
  });
}

/** Writes what a resume has to know: all of it with the first message, then what has changed. */
function createStateKeeper(
  { options, live, meter }: Core,
  { append }: Pick<Transcript, 'append'>,
  { stored: { worked: before = NO_WORK } }: OpenedSession,
) {
  const parts: (() => SessionSettings)[] = [];
  let begun = false;
  let written = '';
  let turns = before.turns;
  const worked = () => {
    const { added, removed } = meter.report().lines;
    return { turns, added: before.added + added, removed: before.removed + removed };
  };
  return {
    add: (part: () => SessionSettings) => void parts.push(part),
    async hear(event: AgentEvent): Promise<void> {
      if (!begun && event.type === 'message_end') {
        begun = true;
        await append(encodeSettings({ ...live.now(), promptFlags: promptFlags(options) }));
      }
      if (event.type === 'message_end' && isTypedByPerson(event.message)) turns += 1;
      if (event.type !== 'agent_end') return;
      // At the end of its line: lists of sessions look for it from the end of the file.
      const record = encodeSettings(Object.assign({}, ...parts.map((part) => part()), { worked: worked() }));
      const text = JSON.stringify(record);
      if (text === written) return;
      written = text;
      await append(record);
    },
  };
}

/** What is being typed, and what was typed before. */
function typedWords({ environment, cwd, now }: Core, { id: sessionId, dir, isResumed }: OpenedSession) {
  return {
    draft: createDraftStore({ dir, sessionId, opening: isResumed ? 'resumed' : 'new', now }),
    history: createPromptHistory({ path: join(environment.ouroHome, 'history.jsonl'), cwd, sessionId, now }),
  };
}

const NOTHING_KEPT: Pick<Conversation, 'draft' | 'history'> = {
  draft: { load: async () => undefined, save: () => undefined, clear: async () => undefined },
  history: { recent: async () => [], add: async () => undefined },
};
