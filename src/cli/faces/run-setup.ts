import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';

/** `ouro --init-only`: the hooks of Setup and of the start of a session, and nothing else. Nothing is kept of it. */
export async function runSetup(run: RunOptions, io: Io, shutdown: Shutdown): Promise<number> {
  const { createConversation } = await import('../../app/compose.ts');
  const wanted: RunOptions = { ...run, persistence: 'memory' };
  const first = await createConversation(wanted, io.environment);
  // A machine that is only prepared has no key yet.
  const composed = first.ok ? first : await createConversation({ ...wanted, model: 'demo' }, io.environment);
  if (!composed.ok) {
    io.stderr.write(`${composed.problem}\n`);
    return 1;
  }
  const { conversation } = composed;
  shutdown.guard(conversation);
  for (const warning of conversation.info().warnings) io.stderr.write(`${warning}\n`);
  conversation.agent.subscribe((event) => {
    if (event.type === 'notice') io.stderr.write(`${event.text}\n`);
  });
  const failures = await conversation.prepare();
  for (const words of failures) io.stderr.write(`${words}\n`);
  return failures.length === 0 ? 0 : 1;
}
