import type { Invocation } from './invocation.ts';
import type { Io } from './io.ts';
import type { Shutdown } from './shutdown.ts';

/** The screen. */
export async function runRepl(_invocation: Invocation, io: Io, _shutdown: Shutdown): Promise<number> {
  io.stderr.write('There is no screen in this build yet. Ask once with: ouro -p "your question"\n');
  return 2;
}
