/** One server-sent event: its name, when it has one, and its data. */
export type WireEvent = { readonly name: string | undefined; readonly data: string };

/** Reads server-sent events from a body. Ends when the body does; throws when its socket breaks. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<WireEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = createParser();
  try {
    while (true) {
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      yield* parser.push(text);
      if (done) return;
    }
  } finally {
    // Nobody waits for this: what is left of the body is of no interest, only its end is.
    void letGo(reader);
  }
}

const REST_OF_BODY_MS = 100;

/** Reads the last bytes so that the connection can be used again; one that does not end is closed. */
async function letGo(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), REST_OF_BODY_MS);
  timer.unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // It broke, or was aborted: closed either way.
  } finally {
    clearTimeout(timer);
  }
}

/** Cuts text into events at blank lines. An event without its blank line is never finished, as the format says. */
function createParser() {
  let rest = '';
  let endedInReturn = false;
  let name: string | undefined;
  let data: string | undefined;

  function takeLine(line: string): WireEvent | undefined {
    if (line === '') {
      const event = data === undefined ? undefined : { name, data };
      name = undefined;
      data = undefined;
      return event;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1);
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
    if (field === 'event') name = value;
    return undefined;
  }

  return {
    push(text: string): readonly WireEvent[] {
      // A carriage return ends its line at once: with some servers nothing ever follows the last one.
      rest += endedInReturn && text.startsWith('\n') ? text.slice(1) : text;
      endedInReturn = text === '' ? endedInReturn : text.endsWith('\r');
      const lines = rest.split(/\r\n|\n|\r/);
      rest = lines.pop() ?? '';
      return lines.map(takeLine).filter((event) => event !== undefined);
    },
  };
}
