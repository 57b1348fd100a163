import { isAbsolute } from 'node:path';
import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  type McpServer,
  RequestError,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { HostFiles } from '../../contracts/face/host.ts';
import type { SessionChoice } from '../../contracts/face/run-options.ts';
import { mcpConfigOf, readEditorPrompt } from './content.ts';
import { editorFiles } from './editor-files.ts';
import type { EditorPort } from './editor-port.ts';
import { createEditorSession, type EditorSession } from './editor-session.ts';

/** What an editor says of the session it wants. */
type Wanted = {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly additionalDirectories?: readonly string[];
};

/** A stored session, as it is or in a copy; or a new one that keeps the name of one in which nothing was said. */
type Stored = { readonly id: string; readonly fork: 'same' | 'fork' | 'fresh' };

type Entry = { readonly session: EditorSession; readonly wanted: Wanted; readonly client: AgentContext };

/** What an editor lends of its files to the session of this name. */
type FilesOf = (sessionId: () => string) => HostFiles | undefined;

/** The sessions that an editor has open. */
export function createEditorSessions(port: EditorPort, abilities: () => ClientCapabilities) {
  const entries = new Map<string, Entry>();
  const filesFor =
    (client: AgentContext): FilesOf =>
    (sessionId) =>
      editorFiles(client, abilities(), sessionId);

  function entry(sessionId: string): Entry {
    const found = entries.get(sessionId);
    if (found === undefined) throw RequestError.invalidParams({ sessionId }, 'there is no such session');
    return found;
  }

  function keep(conversation: Conversation, wanted: Wanted, client: AgentContext): EditorSession {
    const session = createEditorSession(conversation, client, abilities());
    entries.set(conversation.agent.sessionId, { session, wanted, client });
    return session;
  }

  async function drop(sessionId: string): Promise<void> {
    const found = entries.get(sessionId);
    entries.delete(sessionId);
    await found?.session.conversation.close('closed');
  }

  /** The thread goes on in a folder that is trusted now: with its instructions, settings and servers. */
  async function trust(sessionId: string): Promise<StopReason> {
    const { session, wanted, client } = entry(sessionId);
    // Asked of the conversation, which knows what was shown before.
    const answer = await session.conversation.runCommand('trust yes');
    if (answer.kind === 'show') {
      const isKept = session.conversation.agent.state().messages.length > 0;
      await drop(sessionId);
      const opened = keep(
        await compose(port, wanted, { id: sessionId, fork: isKept ? 'same' : 'fresh' }, filesFor(client)),
        wanted,
        client,
      );
      await announce(opened, wanted.cwd);
    }
    await entry(sessionId).session.say(
      answer.kind === 'show' ? answer.markdown : answer.kind === 'failed' ? answer.words : '',
    );
    return 'end_turn';
  }

  /** What an editor should know of a session it has just opened: its commands, and that something does not count. */
  async function announce(session: EditorSession, cwd: string): Promise<void> {
    await session.announce();
    if (!session.conversation.info().trusted && (await port.bringsMore(cwd))) await session.say(UNTRUSTED);
  }

  return {
    announce,
    known: (sessionId: string) => entry(sessionId).session,
    /** A new session, or a stored one, as it is or in a copy. */
    async open(wanted: Wanted, stored: Stored | undefined, client: AgentContext): Promise<EditorSession> {
      return keep(await compose(port, wanted, stored, filesFor(client)), wanted, client);
    },
    drop,
    async close(sessionId: string): Promise<void> {
      entry(sessionId);
      await drop(sessionId);
    },
    cancel: (sessionId: string) => entries.get(sessionId)?.session.cancel(),
    async prompt(sessionId: string, blocks: readonly ContentBlock[]): Promise<StopReason> {
      const { session } = entry(sessionId);
      const isTrust = /^\/trust\s+yes$/.test(readEditorPrompt(blocks).words.trim());
      if (isTrust && !session.conversation.info().trusted) return trust(sessionId);
      return session.prompt(blocks);
    },
  };
}

/** Opens a conversation as an editor wants it, or throws the error of its request. */
async function compose(
  port: EditorPort,
  wanted: Wanted,
  stored: Stored | undefined,
  filesOf: FilesOf,
): Promise<Conversation> {
  const { cwd, additionalDirectories = [], mcpServers = [] } = wanted;
  if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, 'cwd must be an absolute path');
  const begun: { sessionId?: string } = {};
  const composed = await port.open({
    ...port.options,
    host: { hooks: [], mcpServers: [], files: filesOf(() => begun.sessionId ?? '') },
    cwd,
    session: choiceOf(stored),
    addDirs: [...port.options.addDirs, ...additionalDirectories],
    mcpConfig: [...port.options.mcpConfig, ...mcpConfigOf(mcpServers)],
  });
  if (!composed.ok && (await port.keyProblem()) !== undefined)
    throw RequestError.authRequired(undefined, composed.problem);
  if (!composed.ok) throw new RequestError(-32603, composed.problem);
  const { conversation } = composed;
  begun.sessionId = conversation.agent.sessionId;
  // What another process works on goes on in a copy, and the answer has no place for the copy's name.
  if (stored?.fork === 'same' && conversation.agent.sessionId !== stored.id) {
    await conversation.close('closed');
    throw new RequestError(-32603, `The session ${stored.id} is open in another ouro. Close it there, or fork it.`);
  }
  return conversation;
}

const UNTRUSTED =
  'This folder is not trusted, so its instructions, settings, commands and servers do not count. `/trust` shows what it would bring, `/trust yes` lets it count in this thread too.\n';

function choiceOf(stored: Stored | undefined): SessionChoice {
  if (stored === undefined) return { kind: 'new' };
  const { id, fork } = stored;
  return fork === 'fresh' ? { kind: 'new', id } : { kind: 'resume', wanted: id, fork };
}
