import type { ProcessIo } from '../../command/process-io.ts';
import type { Shutdown } from '../../command/shutdown.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';

/** Runs the Setup and SessionStart hooks (`ouro --init-only`) without saving a session. */
export async function runSetupHooks(run: CliRunOptions, io: ProcessIo, shutdown: Shutdown): Promise<number> {
  const { createConversation } = await import('../../app/compose.ts');
  const options: CliRunOptions = { ...run, persistence: 'memory' };
  const first = await createConversation(options, io.environment);
  // A machine that is still being set up may have no key; hooks need no model.
  const withoutModel: CliRunOptions = { ...options, model: 'demo', demoProject: { folder: undefined } };
  const composed = first.ok ? first : await createConversation(withoutModel, io.environment);
  if (!composed.ok) {
    io.stderr.write(`${composed.problem}\n`);
    return 1;
  }
  const { conversation } = composed;
  shutdown.attach(conversation);
  for (const warning of conversation.info().warnings) io.stderr.write(`${warning}\n`);
  conversation.agent.subscribe((event) => {
    if (event.type === 'notice') io.stderr.write(`${event.text}\n`);
  });
  const failures = await conversation.runSetupHooks();
  for (const failure of failures) io.stderr.write(`${failure}\n`);
  return failures.length === 0 ? 0 : 1;
}
