/** One server-sent event: its data and its name, if it has one. */
export type ServerSentEvent = { readonly name: string | undefined; readonly data: string };

/** The error of an event that is larger than any event of a model API. */
export class EndlessEventError extends Error {
  override readonly name = 'EndlessEventError';
}

/** Limit of one event: the largest are whole replies of a megabyte, or pictures of a few. */
const MAX_EVENT_CHARS = 16_000_000;
/** Characters that a line counts for besides its text: an empty one takes memory and time, too. */
const LINE_CHARS = 32;

/**
 * Reads server-sent events from a body until its end; throws if the connection breaks. Comments are used as pings.
 */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array>,
  onComment: () => void = () => undefined,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = createParser(onComment);
  try {
    while (true) {
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      // Delegating to an array would take two more promises per event.
      for (const event of parser.push(text)) yield event;
      if (done) return;
    }
  } finally {
    // Not awaited: the rest of the body is read only so that the connection can be reused.
    void drain(reader);
  }
}

const DRAIN_TIMEOUT_MS = 100;

/** Reads the rest of the body so that the connection can be reused; closes it if the body does not end in time. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_TIMEOUT_MS);
  timer.unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // Broken or aborted; the connection is closed either way.
  } finally {
    clearTimeout(timer);
  }
}

/** Creates a parser that splits text into events at blank lines; an event without its blank line is discarded. */
function createParser(onComment: () => void) {
  /** The pieces of a line that has not ended yet; joined once, because lines may arrive in thousands of pieces. */
  let pieces: string[] = [];
  let pendingChars = 0;
  let dataChars = 0;
  let endedWithCarriageReturn = false;
  let name: string | undefined;
  let data: string | undefined;

  function takeLine(line: string): ServerSentEvent | undefined {
    if (line === '') {
      const event = data === undefined ? undefined : { name, data };
      name = undefined;
      data = undefined;
      dataChars = 0;
      return event;
    }
    const colon = line.indexOf(':');
    if (colon === 0) onComment();
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1);
    if (field === 'data') {
      data = data === undefined ? value : `${data}\n${value}`;
      dataChars += value.length + LINE_CHARS;
      if (dataChars > MAX_EVENT_CHARS) throw new EndlessEventError('an event is too large');
    }
    if (field === 'event') name = value;
    return undefined;
  }

  return {
    push(text: string): readonly ServerSentEvent[] {
      // A carriage return ends its line at once: some servers send no line feed after the last one.
      const rest = endedWithCarriageReturn && text.startsWith('\n') ? text.slice(1) : text;
      endedWithCarriageReturn = text === '' ? endedWithCarriageReturn : text.endsWith('\r');
      const lines = rest.split(/\r\n|\n|\r/);
      const first = lines[0] ?? '';
      pieces.push(first);
      pendingChars += first.length;
      if (pendingChars > MAX_EVENT_CHARS) throw new EndlessEventError('a line is too long');
      if (lines.length === 1) return [];
      lines[0] = pieces.join('');
      const last = lines.pop() ?? '';
      pieces = [last];
      pendingChars = last.length;
      return lines.map(takeLine).filter((event) => event !== undefined);
    },
  };
}
