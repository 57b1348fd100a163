import { realpath, stat } from 'node:fs/promises';
import { ndJsonStream } from '@agentclientprotocol/sdk/unstable';
import { createConversation } from '../../app/compose.ts';
import { openArchive } from '../../app/replay/session-archive.ts';
import { trustQuestion } from '../../app/settings/folder-trust.ts';
import { createEditorAgent } from '../acp/editor-agent.ts';
import { readInvocation } from '../args/invocation.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { signalCode } from '../exit-code.ts';
import type { Io } from '../io.ts';

/** `ouro acp`: serves an editor on stdin and stdout until it closes them. */
export async function run({ flags, io, shutdown }: CommandRequest): Promise<number> {
  const { run: options } = await readInvocation(argsOf(flags), { cwd: io.cwd, hasTerminal: false });
  const app = createEditorAgent({
    options: { ...options, face: 'editor' },
    version: io.environment.version,
    async list(cwd) {
      const found = await openArchive(io.environment, cwd ?? io.cwd).list(cwd === undefined ? 'all' : 'folder');
      return found.map(({ id, title, cwd: at, modifiedMs }) => ({
        id,
        title,
        cwd: at,
        at: new Date(modifiedMs).toISOString(),
      }));
    },
    async remove(id) {
      const archive = openArchive(io.environment, io.cwd);
      const found = (await archive.list('all')).find((one) => one.id === id);
      if (found === undefined) return 'there is no such session';
      const done = await archive.delete(found);
      return done.ok ? undefined : done.why;
    },
    async keyProblem() {
      const tried = { ...options, persistence: 'memory', mcpSources: 'flags-only', mcpConfig: [] } as const;
      const composed = await createConversation(tried, io.environment);
      if (!composed.ok) return composed.problem;
      await composed.conversation.close('closed');
      return undefined;
    },
    async bringsMore(cwd) {
      const asked = await trustQuestion(await realpath(cwd), io.environment, 'start');
      return (asked?.question.effects.length ?? 0) > 0;
    },
    async open(wanted) {
      const facts = await stat(wanted.cwd).catch(() => undefined);
      if (facts?.isDirectory() !== true) return { ok: false, problem: `There is no folder ${wanted.cwd}.` };
      const composed = await createConversation(wanted, io.environment);
      if (composed.ok) {
        shutdown.guard(composed.conversation);
        for (const warning of composed.conversation.info().warnings) io.stderr.write(`${warning}\n`);
      }
      return composed;
    },
  });
  const connection = app.connect(ndJsonStream(writable(io), readable(io)));
  io.stdout.onClosed(() => connection.close());
  const ended = await Promise.race([connection.closed, shutdown.begun]);
  return ended === undefined || ended === 'shutdown' ? 0 : signalCode(ended);
}

/** The flags of the subcommand are those of ouro itself. */
function argsOf(flags: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return typeof value === 'string' ? [`${flag}=${value}`] : [flag];
  });
}

function writable(io: Io): WritableStream<Uint8Array> {
  const decoder = new TextDecoder();
  return new WritableStream({ write: (chunk) => io.stdout.write(decoder.decode(chunk, { stream: true })) });
}

function readable(io: Io): ReadableStream<Uint8Array> {
  const chunks = io.stdin.chunks()[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
}
