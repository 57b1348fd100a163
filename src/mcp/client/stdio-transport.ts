import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { createPipedProgram, type PipedProgramOptions } from '../../lib/processes/piped-program.ts';
import { describeSandboxRun } from '../../lib/processes/program-check.ts';
import { truncate } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** A transport, and a description of why it ended. */
export type TransportHandle = {
  readonly transport: Transport;
  readonly describeExit: () => string | undefined;
  /** Says how the entry gives the server more than its sandbox; absent for one that needs nothing. */
  readonly adviseOnSandbox?: () => string | undefined;
};

/** Creates a transport to a child process over its pipes, one message per line. */
export function createStdioTransport(
  start: PipedProgramOptions & { readonly probeIntervalMs?: number | undefined },
): TransportHandle {
  const probe = createInputProbe((line) => program.write(line), start.probeIntervalMs ?? PROBE_INTERVAL_MS);
  const output = createStdioParser(
    (message) => {
      if (!probe.receive(message)) transport.onmessage?.(message);
    },
    (reason) => program.abort(reason),
  );
  const program = createPipedProgram(start, {
    onStdout: output.parseStdout,
    onStderr: output.addStderr,
    onEnd: () => {
      probe.stop();
      transport.onclose?.();
    },
  });
  const transport: Transport = {
    start: program.start,
    send(message) {
      probe.send(message);
      return program.write(`${JSON.stringify(message)}\n`);
    },
    close: program.close,
  };
  return {
    transport,
    adviseOnSandbox() {
      const sandbox = program.getSandbox();
      if (sandbox === undefined) return undefined;
      return `it runs in the sandbox, ${describeSandboxRun(sandbox)}; "sandbox" in its entry ("write", "network", both in a list, or "off") gives it more`;
    },
    describeExit() {
      const lastOutput = output.describeLastOutput();
      return lastOutput === undefined
        ? program.getEndReason()
        : `${program.getEndReason() ?? 'sent no MCP message'}; ${lastOutput}`;
    },
  };
}

const PROBE_INTERVAL_MS = 3_000;
const PROBE_ID = 'ouro-probe';

/**
 * Creates a probe that writes pings while a request has no answer: only a write shows that a server has closed its
 * input, and then no more is sent until the answer, which may never come.
 */
function createInputProbe(write: (line: string) => Promise<void>, intervalMs: number) {
  const unanswered = new Set<unknown>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const ping = `${JSON.stringify({ jsonrpc: '2.0', id: PROBE_ID, method: 'ping' })}\n`;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    send(message: JSONRPCMessage): void {
      if (!('method' in message && 'id' in message)) return;
      unanswered.add(message.id);
      timer ??= setInterval(() => void write(ping).catch(() => undefined), intervalMs);
    },
    /** Takes a message of the server. Returns whether it answers a ping. */
    receive(message: JSONRPCMessage): boolean {
      if ('method' in message) return false;
      unanswered.delete(message.id);
      if (unanswered.size === 0) stop();
      return message.id === PROBE_ID;
    },
    stop,
  };
}

const TAIL_CHARS = 2_000;
const STRAY_SAMPLE_CHARS = 100;
const MAX_LINE_BYTES = 32 * 1024 * 1024;
/** Output without a message that a server may print between two messages. */
const MAX_STRAY_CHARS = 1024 * 1024;

/** Creates the parser of newline-delimited messages; `refuse` gets the reason when the output exceeds a limit. */
function createStdioParser(onMessage: (message: JSONRPCMessage) => void, refuse: (why: string) => void) {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let stray = '';
  let strayChars = 0;
  let errors = '';

  function parseLine(text: string): void {
    if (text.trim() === '') return;
    const message = parseMessage(text);
    if (message !== undefined) {
      strayChars = 0;
      onMessage(message);
      return;
    }
    // Banners and debug output are common; the first of it is kept to describe a server that sends no message.
    if (stray.length < STRAY_SAMPLE_CHARS) stray = `${stray} ${text.slice(0, STRAY_SAMPLE_CHARS)}`;
    strayChars += text.length + 1;
    if (strayChars > MAX_STRAY_CHARS) refuse(`printed more than ${MAX_STRAY_CHARS / 1024 / 1024} MB that is not MCP`);
  }

  return {
    /** Takes a chunk of standard output. */
    parseStdout(chunk: Buffer) {
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        parseLine(Buffer.concat([...pending, chunk.subarray(start, end)]).toString('utf8'));
        pending = [];
        pendingBytes = 0;
        start = end + 1;
      }
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes <= MAX_LINE_BYTES) return;
      pending = [];
      pendingBytes = 0;
      refuse(`sent a line of more than ${MAX_LINE_BYTES / 1024 / 1024} MB`);
    },
    /** Takes a chunk of standard error. */
    addStderr(chunk: Buffer) {
      errors = (errors + chunk.toString('utf8')).slice(-TAIL_CHARS);
    },
    /** Describes the last output that was not a message. */
    describeLastOutput(): string | undefined {
      const lines = sanitize(errors, 'foreign')
        .split('\n')
        .filter((line) => line.trim() !== '');
      if (lines.length > 0) return `last output: ${shorten(lines.slice(-3).join(' / '))}`;
      return stray === '' ? undefined : `it printed "${shorten(stray)}"`;
    },
  };
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  // Cheap test first, so that a flood of other output is not parsed as JSON.
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    const json: unknown = JSON.parse(line);
    const { data } = JSONRPCMessageSchema.safeParse(json);
    if (data !== undefined) return data;
    const { data: answer } = ANSWER_SCHEMA.safeParse(json);
    return answer && { jsonrpc: '2.0', id: answer.id, error: INVALID_ANSWER };
  } catch {
    return undefined;
  }
}

/** An answer to a call; one that is not valid otherwise must still end it. */
const ANSWER_SCHEMA = z.object({ id: z.union([z.number(), z.string()]), method: z.undefined().optional() });
const INVALID_ANSWER = { code: -32600, message: 'its answer is not valid JSON-RPC' };

function shorten(text: string): string {
  const clean = sanitize(text, 'foreign').replaceAll(/\s+/g, ' ').trim();
  return truncate(clean, 300);
}
