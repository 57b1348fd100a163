import { createControlRequestSender } from '../../../../src/cli/modes/sdk-host/control-request-sender.ts';
import { createHostConversation } from '../../../../src/cli/modes/sdk-host/host-conversation.ts';
import { relayQuestionsToHost } from '../../../../src/cli/modes/sdk-host/host-questions.ts';
import { createControlServer } from '../../../../src/cli/modes/sdk-host/run-sdk-host.ts';
import { readNonBlankLines } from '../../../../src/command/process-io.ts';
import type { CliRunOptions } from '../../../../src/contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../../src/contracts/frontend/conversation.ts';
import type { JsonObject, JsonValue } from '../../../../src/contracts/json.ts';
import { createAsyncQueue } from '../../../../src/engine/phases/stream-model.ts';
import { runOptions } from '../../../support/run-options.ts';

const OPTIONS = runOptions();

/** A host at the other end of a conversation, without a process between them. */
export function hostBench(conversation: Conversation, replay: 'replays' | 'plain' = 'plain') {
  const input = createAsyncQueue<string | undefined>();
  const lines: JsonObject[] = [];
  const warnings: string[] = [];
  const opened: CliRunOptions[] = [];
  let watchers: { readonly fits: (line: JsonObject) => boolean; readonly resolve: (line: JsonObject) => void }[] = [];
  let ids = 0;

  function write(line: JsonObject): void {
    lines.push(line);
    const due = watchers.filter(({ fits }) => fits(line));
    watchers = watchers.filter((watcher) => !due.includes(watcher));
    for (const { resolve } of due) resolve(line);
  }

  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const text = await input.next();
      if (text === undefined || text === END) return;
      yield new TextEncoder().encode(text);
    }
  }

  const newId = () => `q${++ids}`;
  const outgoing = createControlRequestSender(write, newId);
  const host = createControlServer(OPTIONS, {
    outgoing,
    write,
    warn: (text) => warnings.push(text),
    pid: 7,
    awaitsInitialize: false,
    async open(options) {
      opened.push(options);
      relayQuestionsToHost(conversation, outgoing, 'everything');
      const output = {
        format: 'stream-json' as const,
        detail: 'all' as const,
        partialMessages: false,
        hookEvents: false,
        replayUserMessages: replay === 'replays',
        onUsageLimit: 'stop' as const,
      };
      const port = { write, newId, now: () => 0, suggestsPrompts: false, isEnding: () => false };
      return { ok: true, conversation, hostConversation: createHostConversation(conversation, output, port) };
    },
  });
  const code = host.serve(readNonBlankLines(chunks()));

  const send = (line: JsonObject | string) => input.push(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
  const waitFor = (fits: (line: JsonObject) => boolean) =>
    new Promise<JsonObject>((resolve) => {
      watchers.push({ fits, resolve });
    });

  return {
    lines,
    warnings,
    opened,
    code,
    send,
    /** The next line that fits; asked before it is written. */
    waitFor,
    end: () => input.push(END),
    say: (content: JsonValue, more: JsonObject = {}) =>
      send({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, ...more }),
    nextResult: () => waitFor((line) => line.type === 'result'),
    /** A request of ours to the host. */
    nextQuestion: () => waitFor((line) => line.type === 'control_request'),
    respond: (question: JsonObject, response: JsonObject) =>
      send({
        type: 'control_response',
        response: { subtype: 'success', request_id: question.request_id, response },
      }),
    /** Asks and gives back what the answer holds. */
    async ask(request: JsonObject, id = newId()): Promise<JsonValue | undefined> {
      const answer = waitFor((line) => line.type === 'control_response' && idOf(line) === id);
      send({ type: 'control_request', request_id: id, request });
      return (await answer).response;
    },
  };
}

const END = '\u0000end';

function idOf(line: JsonObject): string | undefined {
  const { response } = line;
  return typeof response === 'object' && response !== null && 'request_id' in response
    ? String(response.request_id)
    : undefined;
}
