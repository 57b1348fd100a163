import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type PipedStart, pipedProgram } from '../../lib/processes/piped-program.ts';
import { createStdioOutput } from './stdio-output.ts';

/** A transport, and what can be said about why it ended. */
export type OpenTransport = { readonly transport: Transport; readonly describeEnd: () => string | undefined };

/** Speaks with a process over its pipes, one message a line. */
export function stdioTransport(start: PipedStart): OpenTransport {
  const output = createStdioOutput(
    (message) => transport.onmessage?.(message),
    (why) => program.refuse(why),
  );
  const program = pipedProgram(start, {
    out: output.out,
    error: output.error,
    ended: () => transport.onclose?.(),
  });
  const transport: Transport = {
    start: program.start,
    send: (message) => program.write(`${JSON.stringify(message)}\n`),
    close: program.close,
  };
  return {
    transport,
    describeEnd() {
      const last = output.lastWords();
      return last === undefined ? program.ending() : `${program.ending() ?? 'said nothing that is MCP'}; ${last}`;
    },
  };
}
