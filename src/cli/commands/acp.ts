import { realpath, stat } from 'node:fs/promises';
import { ndJsonStream } from '@agentclientprotocol/sdk/unstable';
import { createConversation } from '../../app/compose.ts';
import { createStoredSessionOperations } from '../../app/replay/session-archive.ts';
import { buildTrustQuestion } from '../../app/trust/trust-question.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { parseInvocation } from '../args/invocation.ts';
import { createAcpAgent } from '../modes/acp/acp-agent.ts';
import { runLoginCommand } from './login.ts';

/** Runs `ouro acp`: serves an editor on stdin and stdout until it closes them. */
export async function runAcpCommand(input: SubcommandInput): Promise<number> {
  const { io, shutdown } = input;
  const { login, ...flags } = input.flags;
  if (login === true) return runLoginCommand({ ...input, args: [] });
  const { run: options } = await parseInvocation(formatFlagArgs(flags), { cwd: io.cwd, hasTerminal: false });
  const app = createAcpAgent({
    options: { ...options, frontend: 'editor' },
    version: io.environment.version,
    async listSessions(cwd) {
      const sessions = await createStoredSessionOperations(io.environment, cwd ?? io.cwd).list(
        cwd === undefined ? 'all' : 'folder',
      );
      return sessions.map((session) => ({
        id: session.id,
        title: session.title,
        cwd: session.cwd,
        at: new Date(session.modifiedMs).toISOString(),
      }));
    },
    async deleteSession(id) {
      const archive = createStoredSessionOperations(io.environment, io.cwd);
      const session = (await archive.list('all')).find((stored) => stored.id === id);
      if (session === undefined) return 'session not found';
      const outcome = await archive.delete(session);
      return outcome.ok ? undefined : outcome.problem;
    },
    async findKeyProblem() {
      const probe = { ...options, persistence: 'memory', mcpSources: 'flags-only', mcpConfig: [] } as const;
      const composed = await createConversation(probe, io.environment);
      if (!composed.ok) return composed.problem;
      await composed.conversation.close('closed');
      return undefined;
    },
    async hasUntrustedConfig(cwd) {
      const trust = await buildTrustQuestion(await realpath(cwd), io.environment, 'start');
      return (trust?.question.effects.length ?? 0) > 0;
    },
    async openConversation(runOptions) {
      const stats = await stat(runOptions.cwd).catch(() => undefined);
      if (stats?.isDirectory() !== true) return { ok: false, problem: `Folder ${runOptions.cwd} not found.` };
      const composed = await createConversation(runOptions, io.environment);
      if (composed.ok) {
        shutdown.attach(composed.conversation);
        for (const warning of composed.conversation.info().warnings) io.stderr.write(`${warning}\n`);
      }
      return composed;
    },
  });
  const connection = app.connect(ndJsonStream(createWritable(io), createReadable(io)));
  io.stdout.onFailed(() => connection.close());
  await Promise.race([connection.closed, shutdown.started]);
  return 0;
}

/** Writes the parsed flags as arguments again, for `readInvocation`. */
function formatFlagArgs(flags: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return typeof value === 'string' ? [`${flag}=${value}`] : [flag];
  });
}

function createWritable(io: ProcessIo): WritableStream<Uint8Array> {
  const decoder = new TextDecoder();
  return new WritableStream({ write: (chunk) => io.stdout.write(decoder.decode(chunk, { stream: true })) });
}

function createReadable(io: ProcessIo): ReadableStream<Uint8Array> {
  const chunks = io.stdin.chunks()[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
}
