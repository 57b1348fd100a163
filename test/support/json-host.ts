import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { bareEnvironment, withSettings } from './environment.ts';
import { startHere } from './run-here.ts';
import { LAUNCHER, type Running, type RunSettings, startProgram } from './run-ouro.ts';
import type { TempProject } from './temp-project.ts';

/** One line of stream-json. */
export type Line = { readonly type: string; readonly [key: string]: unknown };

/** A host made of nothing but lines. */
export type JsonHost = {
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
  /** Everything heard so far. */
  received(): readonly Line[];
  waitFor(fits: (line: Line) => boolean): Promise<Line>;
  say(content: unknown): void;
  send(line: object | string): void;
  /** Asks, and gives back the response: success or error. */
  ask(request: object): Promise<Readonly<Record<string, unknown>>>;
  /** Closes stdin and waits for the exit code. */
  end(): Promise<number | null>;
};

export const HOST_FLAGS = ['--output-format=stream-json', '--input-format=stream-json', '--verbose'];

/** A host of the program, which runs in this process. */
export function startJsonHost(
  project: TempProject,
  flags: readonly string[],
  apiUrl: string,
  settings: Omit<RunSettings, 'stdin'> = {},
): JsonHost {
  const env = withSettings(bareEnvironment(project, apiUrl), settings.env);
  const program = startHere([...HOST_FLAGS, ...flags], { cwd: settings.cwd ?? project.dir, env });
  return hostOf({ ...program, lines: () => createInterface(program.stdout) });
}

/** A host of a process, which a `wrapper` may start. */
export function startHostProcess(
  project: TempProject,
  flags: readonly string[],
  apiUrl: string,
  { wrapper = [], ...settings }: Omit<RunSettings, 'stdin'> & { readonly wrapper?: readonly string[] } = {},
): JsonHost & { readonly running: Running } {
  const command = [...wrapper, LAUNCHER, ...HOST_FLAGS, ...flags];
  const running = startProgram(project, command, apiUrl, { ...settings, stdin: 'open' });
  return { ...hostOf({ ...running, stdin: running.child.stdin }), running };
}

/** The program as a host uses it. */
type Peer = {
  readonly stdin: Writable;
  readonly lines: () => AsyncIterable<string>;
  readonly ended: JsonHost['ended'];
};

function hostOf(peer: Peer): JsonHost {
  const received: Line[] = [];
  let listeners: (() => void)[] = [];
  let questions = 0;
  // Listens as long as the process lives.
  void (async () => {
    for await (const text of peer.lines()) {
      const line: Line = JSON.parse(text);
      received.push(line);
      for (const listener of listeners.splice(0)) listener();
    }
  })();

  async function waitFor(fits: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = received.find(fits);
      if (found !== undefined) return found;
      const more = new Promise<'more'>((resolve) => {
        listeners = [...listeners, () => resolve('more')];
      });
      const gone = peer.ended.then(({ stderr }) => Promise.reject(new Error(`ouro has ended.\n${stderr}`)));
      await Promise.race([more, gone]);
    }
  }

  const send = (line: object | string) =>
    void peer.stdin.write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);

  return {
    ended: peer.ended,
    received: () => received,
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
      peer.stdin.end();
      return (await peer.ended).code;
    },
  };
}

function idOf(response: unknown): unknown {
  return typeof response === 'object' && response !== null && 'request_id' in response
    ? response.request_id
    : undefined;
}
