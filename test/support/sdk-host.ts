import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Options, query, type SDKMessage, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { createAsyncQueue } from '../../src/engine/phases/stream-model.ts';
import type { ApiTurn } from './api/reply.ts';
import { type ApiServer, type Script, startApiServer } from './api/server.ts';
import { SHARED_CACHE } from './environment.ts';
import { startHere } from './run-here.ts';
import { createTempFolder } from './temp-folder.ts';

/** The official SDK as the host of the whole program, in a folder of its own, against the real API over loopback. */
export type SdkHost = {
  readonly root: string;
  /** Puts the API in place; once per host. */
  api(...turns: readonly ApiTurn[]): Promise<void>;
  apiWith(script: Script): Promise<void>;
  server(): ApiServer;
  /** The program runs in this process. */
  options(more?: Options): Options;
  /** It is started as the SDK starts it. */
  processOptions(more?: Options): Options;
  /** Everything that is heard after one prompt. */
  ask(prompt: string, more?: Options): Promise<readonly SDKMessage[]>;
  /** The complete request as text, for searches. */
  sent(index: number): string;
  close(): Promise<void>;
};

export async function createSdkHost(): Promise<SdkHost> {
  const root = createTempFolder();
  await writeFile(join(root, 'a.txt'), 'alpha\n');
  let running: ApiServer | undefined;

  function server(): ApiServer {
    if (running === undefined) throw new Error('Call api() first.');
    return running;
  }

  async function apiWith(script: Script): Promise<void> {
    running = await startApiServer(script);
  }

  const processOptions = (more: Options = {}): Options => ({
    pathToClaudeCodeExecutable: join(import.meta.dirname, '../../bin/ouro'),
    cwd: root,
    env: {
      ...SHARED_CACHE,
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: root,
      ANTHROPIC_BASE_URL: server().url,
      ANTHROPIC_API_KEY: 'sk-ant-test',
      OURO_RETRY_BASE_MS: '1',
    },
    ...more,
  });

  const options = (more: Options = {}): Options => ({
    ...processOptions(more),
    spawnClaudeCodeProcess: ({ args, env, cwd = root }) => startHere(args, { cwd, env }),
  });

  return {
    root,
    api: (...turns) => apiWith({ turns }),
    apiWith,
    server,
    options,
    processOptions,
    ask: (prompt, more = {}) => all(query({ prompt, options: options(more) })),
    sent: (index) => JSON.stringify(server().requests()[index]?.body),
    async close() {
      await running?.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function all(messages: AsyncIterable<SDKMessage>): Promise<readonly SDKMessage[]> {
  const received: SDKMessage[] = [];
  for await (const message of messages) received.push(message);
  return received;
}

export const resultsOf = (received: readonly SDKMessage[]) => received.filter((message) => message.type === 'result');

const words = (content: string, more: Partial<SDKUserMessage> = {}): SDKUserMessage => ({
  type: 'user',
  message: { role: 'user', content },
  parent_tool_use_id: null,
  session_id: '',
  ...more,
});

/** A host that speaks when it likes. */
export function conversation() {
  const channel = createAsyncQueue<SDKUserMessage | 'end'>();
  async function* prompts(): AsyncGenerator<SDKUserMessage, void> {
    for (let next = await channel.next(); next !== 'end'; next = await channel.next()) yield next;
  }
  return {
    prompts: prompts(),
    say: (text: string, more?: Partial<SDKUserMessage>) => channel.push(words(text, more)),
    end: () => channel.push('end'),
  };
}
