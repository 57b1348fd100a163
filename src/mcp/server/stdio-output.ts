import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { sanitize } from '../../lib/text/sanitize.ts';

const TAIL_CHARS = 2_000;
const STRAY_SHOWN_CHARS = 100;
const LONGEST_LINE_BYTES = 32 * 1024 * 1024;
/** What a server may print between two messages that is none. */
const MOST_STRAY_CHARS = 1024 * 1024;

/** What a server writes to its pipes: messages, words that are none, and complaints. */
export type StdioOutput = {
  /** A piece of standard output. */
  out(chunk: Buffer): void;
  /** A piece of standard error. */
  error(chunk: Buffer): void;
  /** The last it said that was no message. */
  lastWords(): string | undefined;
};

/** Gives on every message, one a line. `refuse` says why a server that floods us is not read any further. */
export function createStdioOutput(
  onMessage: (message: JSONRPCMessage) => void,
  refuse: (why: string) => void,
): StdioOutput {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let stray = '';
  let strayChars = 0;
  let errors = '';

  function line(text: string): void {
    if (text.trim() === '') return;
    const message = readMessage(text);
    if (message !== undefined) {
      strayChars = 0;
      onMessage(message);
      return;
    }
    // Banners and debug prints are common; they are kept only to explain a server that says nothing else.
    if (stray.length < STRAY_SHOWN_CHARS) stray = `${stray} ${text.slice(0, STRAY_SHOWN_CHARS)}`;
    strayChars += text.length + 1;
    if (strayChars > MOST_STRAY_CHARS) refuse(`printed more than ${MOST_STRAY_CHARS / 1024 / 1024} MB that is not MCP`);
  }

  return {
    out(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        line(Buffer.concat([...pending, chunk.subarray(from, at)]).toString('utf8'));
        pending = [];
        pendingBytes = 0;
        from = at + 1;
      }
      pending.push(chunk.subarray(from));
      pendingBytes += chunk.length - from;
      if (pendingBytes <= LONGEST_LINE_BYTES) return;
      pending = [];
      pendingBytes = 0;
      refuse(`sent a line of more than ${LONGEST_LINE_BYTES / 1024 / 1024} MB`);
    },
    error(chunk) {
      errors = (errors + chunk.toString('utf8')).slice(-TAIL_CHARS);
    },
    lastWords() {
      const lines = sanitize(errors, 'foreign')
        .split('\n')
        .filter((one) => one.trim() !== '');
      if (lines.length > 0) return `its last words: ${shorten(lines.slice(-3).join(' / '))}`;
      return stray === '' ? undefined : `it printed "${shorten(stray)}"`;
    },
  };
}

function readMessage(line: string): JSONRPCMessage | undefined {
  // A flood of other words costs no parsing.
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    return JSONRPCMessageSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function shorten(text: string): string {
  const clean = sanitize(text, 'foreign').replaceAll(/\s+/g, ' ').trim();
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean;
}
