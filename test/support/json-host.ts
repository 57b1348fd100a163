import { type Running, type RunSettings, startOuro } from './run-ouro.ts';
import type { TempProject } from './temp-project.ts';

/** One line of stream-json. */
export type Line = { readonly type: string; readonly [key: string]: unknown };

/** A host made of nothing but lines. */
export type JsonHost = {
  readonly running: Running;
  /** Everything heard so far. */
  heard(): readonly Line[];
  waitFor(fits: (line: Line) => boolean): Promise<Line>;
  say(content: unknown): void;
  send(line: object | string): void;
  /** Asks, and gives back the response: success or error. */
  ask(request: object): Promise<Readonly<Record<string, unknown>>>;
  /** Closes stdin and waits for the exit code. */
  end(): Promise<number | null>;
};

export const HOST_FLAGS = ['--output-format=stream-json', '--input-format=stream-json', '--verbose'];

export function startJsonHost(
  project: TempProject,
  flags: readonly string[],
  apiUrl: string,
  settings: RunSettings = {},
): JsonHost {
  const running = startOuro(project, [...HOST_FLAGS, ...flags], apiUrl, { ...settings, stdin: 'open' });
  const heard: Line[] = [];
  let listeners: (() => void)[] = [];
  let questions = 0;
  // Listens as long as the process lives.
  void (async () => {
    for await (const text of running.lines()) {
      const line: Line = JSON.parse(text);
      heard.push(line);
      for (const listener of listeners.splice(0)) listener();
    }
  })();

  async function waitFor(fits: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = heard.find(fits);
      if (found !== undefined) return found;
      const more = new Promise<'more'>((resolve) => {
        listeners = [...listeners, () => resolve('more')];
      });
      const gone = running.ended.then(({ stderr }) => Promise.reject(new Error(`ouro has ended.\n${stderr}`)));
      await Promise.race([more, gone]);
    }
  }

  const send = (line: object | string) =>
    void running.child.stdin.write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);

  return {
    running,
    heard: () => heard,
    waitFor,
    send,
    say: (content) => send({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null }),
    async ask(request) {
      questions += 1;
      const id = `question-${questions}`;
      send({ type: 'control_request', request_id: id, request });
      const { response } = await waitFor((line) => line.type === 'control_response' && idOf(line.response) === id);
      return typeof response === 'object' && response !== null ? { ...response } : {};
    },
    async end() {
      running.child.stdin.end();
      return (await running.ended).code;
    },
  };
}

function idOf(response: unknown): unknown {
  return typeof response === 'object' && response !== null && 'request_id' in response
    ? response.request_id
    : undefined;
}
