import { createConversation } from '../../src/app/compose.ts';
import { readEnvironment } from '../../src/app/environment.ts';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { CliRunOptions } from '../../src/contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../src/contracts/frontend/conversation.ts';
import { bareEnvironment } from './environment.ts';
import { runOptions } from './run-options.ts';
import type { TempProject } from './temp-project.ts';

export type Composed = {
  readonly conversation: Conversation;
  readonly events: readonly AgentEvent[];
  /** Runs a command and returns its text. */
  readonly command: (line: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** Composes a conversation as the program does, without a frontend, against a scripted server. */
export async function composed(
  project: TempProject,
  apiUrl: string,
  options: Partial<CliRunOptions> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<Composed> {
  const made = await createConversation(
    runOptions({ cwd: project.dir, persistence: 'disk', trust: 'this-run', ...options }),
    readEnvironment({ ...bareEnvironment(project, apiUrl), ...variables }),
  );
  if (!made.ok) throw new Error(made.problem);
  const { conversation } = made;
  const events: AgentEvent[] = [];
  conversation.agent.subscribe((event) => void events.push(event));
  await conversation.waitUntilReady?.();
  return {
    conversation,
    events,
    async command(line) {
      const outcome = await conversation.runCommand(line);
      if (outcome.kind === 'show') return outcome.markdown;
      if (outcome.kind === 'panel' || outcome.kind === 'review') return outcome.text;
      if (outcome.kind === 'open') return outcome.text ?? outcome.kind;
      return outcome.kind === 'done' || outcome.kind === 'failed' ? (outcome.message ?? '') : outcome.kind;
    },
    close: () => conversation.close('other'),
  };
}
