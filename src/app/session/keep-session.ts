import { join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { LiveState } from '../../contracts/live.ts';
import type { ModelPort } from '../../contracts/model.ts';
import type { AskTitle } from '../../model/title-asker.ts';
import { createDraftStore } from '../../session/input/draft.ts';
import { createPromptHistory } from '../../session/input/prompt-history.ts';
import { openTranscript, type Transcript } from '../../session/records/transcript.ts';
import { encodeSettings, type SessionSettings } from '../../session/session-state.ts';
import { nameSession } from './name-session.ts';
import type { OpenedSession } from './open-session.ts';
import { recordRequests } from './record-requests.ts';

export type SessionWiring = {
  readonly opened: OpenedSession;
  readonly options: Pick<RunOptions, 'persistence'>;
  readonly environment: Environment;
  readonly cwd: string;
  readonly branch: string | undefined;
  readonly live: LiveState;
  readonly tell: (event: AgentEvent) => Promise<void>;
  /** The flags that the system prompt is made with. */
  readonly promptFlags: string;
  /** Everything else that a resume has to know: asked when a prompt has been answered. */
  readonly later: () => SessionSettings;
  /** Absent where the first words have to do as a name. */
  readonly askTitle: AskTitle | undefined;
  readonly newId: () => string;
};

/** What is kept of one conversation while it runs. */
export type KeptSession = Pick<Conversation, 'draft' | 'history'> & {
  readonly transcript: Transcript;
  /** The transcript's listener: what it was told is on disk when it resolves. */
  readonly record: (event: AgentEvent) => Promise<void>;
  /** The same port, each request of it on record before it leaves. */
  readonly recorded: (port: ModelPort) => ModelPort;
};

/** Opens the transcript and everything beside it that must outlive the process. */
export function keepSession(wiring: SessionWiring): KeptSession {
  const { opened, options, environment, cwd, live, tell, newId } = wiring;
  const transcript = openTranscript({
    dir: opened.dir,
    cwd,
    sessionId: opened.id,
    gitBranch: wiring.branch,
    version: environment.version,
    lastUuid: opened.stored.lastUuid,
    persistence: options.persistence,
    title: opened.stored.title,
    claim: opened.claim,
    newId,
    now: Date.now,
    tell: (level, text) => void tell({ type: 'notice', level, topic: 'session_store', text }),
  });
  // Nobody waits: lines keep their order, so these are on disk before the next prompt is.
  for (const record of opened.settled) void transcript.append(record);
  live.onChange((part) => void transcript.append(encodeSettings(part)));
  const nameIt = nameSession(live, transcript, wiring.askTitle);
  let begun = false;
  let lastLater = '';

  async function recordLater(): Promise<void> {
    const later = encodeSettings(wiring.later());
    const text = JSON.stringify(later);
    if (text === lastLater) return;
    lastLater = text;
    await transcript.append(later);
  }

  return {
    transcript,
    recorded: recordRequests(transcript, opened.stored.knownTexts),
    async record(event) {
      if (!begun && event.type === 'message_end') {
        begun = true;
        await transcript.append(encodeSettings({ ...live.now(), promptFlags: wiring.promptFlags }));
      }
      if (event.type === 'agent_end') await recordLater();
      await transcript.record(event);
      nameIt(event);
    },
    ...(options.persistence === 'memory'
      ? NOTHING_KEPT
      : {
          draft: createDraftStore({
            dir: opened.dir,
            sessionId: opened.id,
            opening: opened.rebuilt === undefined ? 'new' : 'resumed',
            now: Date.now,
          }),
          history: createPromptHistory({
            path: join(environment.ouroHome, 'history.jsonl'),
            cwd,
            sessionId: opened.id,
            now: Date.now,
          }),
        }),
  };
}

const NOTHING_KEPT: Pick<Conversation, 'draft' | 'history'> = {
  draft: { load: async () => undefined, save: () => undefined, clear: async () => undefined },
  history: { recent: async () => [], add: async () => undefined },
};
