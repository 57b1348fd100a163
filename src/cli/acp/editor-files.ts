import type { AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk/unstable';
import type { HostFiles } from '../../contracts/face/host.ts';

/** The files of an editor as it has them open, as far as it lends them; `sessionId` is asked at each call. */
export function editorFiles(
  client: AgentContext,
  { fs }: ClientCapabilities,
  sessionId: () => string,
): HostFiles | undefined {
  if (fs?.readTextFile !== true && fs?.writeTextFile !== true) return undefined;
  const read: HostFiles['read'] = async (path, signal) => {
    const limits = { cancellationSignal: signal, stopWaitingOnCancel: true };
    return (await client.request('fs/read_text_file', { sessionId: sessionId(), path }, limits)).content;
  };
  const write: HostFiles['write'] = async (path, content, signal) => {
    const limits = { cancellationSignal: signal, stopWaitingOnCancel: true };
    await client.request('fs/write_text_file', { sessionId: sessionId(), path, content }, limits);
  };
  return { ...(fs.readTextFile === true ? { read } : {}), ...(fs.writeTextFile === true ? { write } : {}) };
}
