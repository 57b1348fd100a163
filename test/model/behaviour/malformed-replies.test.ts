import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { JsonObject } from '../../../src/contracts/json.ts';
import { query } from '../../../src/engine/query.ts';
import { createModelRegistry } from '../../../src/model/registry/model-registry.ts';
import type { ServerEvent } from '../../support/api/dialect.ts';
import { type ApiTurn, calls, reply, says, text, toolUse } from '../../support/api/reply.ts';
import { startServer } from '../../support/api/server.ts';
import { listStreamVariants, type StreamVariant } from '../../support/api/stream-variants.ts';
import { drain } from '../../support/loop/drain.ts';
import { buildHistory, echoTool, scripted, userSays } from '../../support/loop/scripted.ts';
import { isWholeRun, partOf, someOf } from '../../support/runs.ts';
import { PROTOCOLS, type Protocol } from './protocols.ts';

/** Complete runs play thousands of replies. */
const LONG = { timeout: 15 * 60_000 };
const MAX_RETRIES = 2;
const MAX_TURNS = 4;
const NO_WAIT = { limits: () => ({ maxRetries: MAX_RETRIES }), clock: { now: Date.now, sleep: async () => undefined } };

const WORDS = ['alpha', 'bravo'];
const INPUT = { word: 'tango' };
/** All that announces the call: its name, its id, its input, and what the APIs call it. */
const CALL = /Echo|zulu|tango|tool_use|input_json_delta|function_call|"finish_reason":"tool_calls"|"functionCall":/;
/** The event after which nothing counts. Gemini has none. */
const END = /\{"type":"message_stop"|data: \[DONE\]|\{"type":"response\.completed"/;

/** A few variants in a quick run, another third of them with each seed in a complete one, and all at night. */
const choose = (variants: readonly StreamVariant[], few: number) =>
  isWholeRun ? partOf(variants, 3) : someOf(variants, few);

/** The effects of one reply. */
type Run = {
  readonly reason: string;
  readonly requests: number;
  readonly inputs: readonly JsonObject[];
  readonly results: number;
  readonly text: string;
  readonly isAskedAgain: boolean;
};

/** Plays streams of one protocol; after the first request the server answers with `then`, or the same for ever. */
async function openTheatre(protocol: Protocol) {
  let body = '';
  let then: 'good' | 'same' = 'good';
  let first = 0;
  const better = calls(text('better'), toolUse('Echo', INPUT, 'call_yankee'));
  const contentType = protocol.dialect.contentType ?? 'text/event-stream';
  const turns = ({ raw }: { readonly raw: string }, index: number): ApiTurn => {
    if (index === first || then === 'same') return { kind: 'raw', status: 200, contentType, body };
    return raw.includes('echoed') ? says('Done.') : better;
  };
  const server = await startServer({ turns }, protocol.dialect);
  const choice = createModelRegistry({ ...protocol.config(server.url), retry: NO_WAIT });
  if (!choice.ok) throw new Error(choice.problem);
  const { port, infoOf, model } = choice;

  async function play(streamed: string, rest: 'good' | 'same'): Promise<Run> {
    first = server.requests().length;
    body = streamed;
    then = rest;
    const inputs: JsonObject[] = [];
    const tool = echoTool({
      call: async (input) => {
        inputs.push(input);
        return { content: 'echoed' };
      },
    });
    const prompt = userSays('Go');
    const deps = scripted([], {
      model: port,
      modelInfo: infoOf,
      tools: () => [tool],
      newId: () => crypto.randomUUID(),
      config: { chain: [{ model }], effort: 'auto', maxTurns: MAX_TURNS },
    });
    const { events, result } = await drain(query([prompt], deps, new AbortController().signal));
    const history = buildHistory([prompt], events);
    const replies = history.flatMap((message) => (message.role === 'assistant' ? message.blocks : []));
    const answers = history.flatMap((message) => (message.role === 'user' ? message.blocks : []));
    return {
      reason: result.reason,
      requests: server.requests().length - first,
      inputs,
      results: answers.filter(({ type }) => type === 'tool_result').length,
      text: replies.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('|'),
      isAskedAgain: events.some(isAskedAgain),
    };
  }

  return { play, [Symbol.asyncDispose]: () => server.close() };
}

const isAskedAgain = (event: AgentEvent) =>
  event.type === 'retry' || (event.type === 'transition' && event.reason === 'empty_response_nudge');

/** Lists the properties a run breaks. */
function listFaults({ body, path, isRenamed }: StreamVariant, run: Run): readonly string[] {
  const sent = body.slice(0, END.test(body) ? body.search(END) : body.length);
  const isDone = run.reason === 'completed';
  const isTaken = isDone && !run.isAskedAgain;
  const lost = WORDS.filter((word) => sent.includes(word) && !run.text.includes(word));
  const isOther = run.inputs.some((input) => input.word !== INPUT.word);
  return [
    ...(CALL.test(body) && isDone && run.results === 0 ? ['the call is lost'] : []),
    ...(isTaken && !isRenamed && lost.length > 0 ? [`the text ${lost} is lost`] : []),
    ...(sent.includes(INPUT.word) && isOther && !path.includes('args') ? ['the call ran without its input'] : []),
    ...(run.inputs.length > 1 ? ['the call ran twice'] : []),
    ...(run.reason === 'model_error' ? ['the client failed'] : []),
    ...(run.requests > MAX_TURNS + MAX_RETRIES ? [`${run.requests} requests`] : []),
  ];
}

/** Lists the properties a run breaks whose replies all are the same. */
function listEndlessFaults({ body }: StreamVariant, run: Run): readonly string[] {
  return [
    ...(CALL.test(body) && run.reason === 'completed' && run.results === 0 ? ['the call is lost'] : []),
    ...(run.reason === 'model_error' ? ['the client failed'] : []),
    ...(run.requests > MAX_TURNS * (1 + MAX_RETRIES) ? [`${run.requests} requests`] : []),
  ];
}

type Recording = { readonly name: string; readonly protocol: string; readonly leaves?: RegExp; readonly stop?: string };

/** Servers do not agree on the reason after a call, nor on the events they send. */
const RECORDINGS: readonly Recording[] = [
  { name: 'Anthropic', protocol: 'Anthropic' },
  { name: 'Anthropic, where calls end like text', protocol: 'Anthropic', stop: 'end_turn' },
  { name: 'chat completions', protocol: 'chat completions' },
  { name: 'chat completions, where calls end like text', protocol: 'chat completions', stop: 'end_turn' },
  { name: 'Gemini', protocol: 'Gemini' },
  { name: 'Responses', protocol: 'Responses' },
  { name: 'Responses without the start of items', protocol: 'Responses', leaves: /item\.added/ },
  { name: 'Responses without the end of items', protocol: 'Responses', leaves: /item\.done/ },
  { name: 'Responses with the last event only', protocol: 'Responses', leaves: /output_|content_|arguments/ },
];

describe.each(RECORDINGS)('$name: whatever is wrong with a reply of text and a call', (recording) => {
  const protocol = PROTOCOLS.find(({ name }) => name === recording.protocol);
  if (protocol === undefined) throw new Error(recording.protocol);
  const said = reply([text('alpha   bravo'), toolUse('Echo', INPUT, 'call_zulu')], {
    chunk: 8,
    ...(recording.stop && { stop: recording.stop }),
  });
  const events = protocol.dialect
    .eventsOf(said, 'x', { model: 'm', stream: true, stream_options: { include_usage: true } })
    .filter(({ event }) => recording.leaves?.test(event) !== true);
  const frame = (event: ServerEvent) => String(protocol.dialect.frame(event));
  const variants = listStreamVariants(events, frame);

  test('nothing of it is lost, and the call is run once or asked for again', LONG, async () => {
    await using theatre = await openTheatre(protocol);
    const intact = await theatre.play(events.map(frame).join(''), 'good');
    expect(intact).toMatchObject({ reason: 'completed', requests: 2, inputs: [INPUT], isAskedAgain: false });
    const faults: string[] = [];
    for (const variant of choose(variants, 12)) {
      const run = await theatre.play(variant.body, 'good');
      for (const fault of listFaults(variant, run))
        faults.push(`${variant.name}: ${fault} (${run.reason}, ${run.text})`);
    }
    expect(faults).toEqual([]);
  });

  test('the run ends when every reply is like it, and not as if it were done', LONG, async () => {
    await using theatre = await openTheatre(protocol);
    const faults: string[] = [];
    for (const variant of choose(
      variants.filter((_, at) => at % 5 === 0),
      4,
    )) {
      const run = await theatre.play(variant.body, 'same');
      for (const fault of listEndlessFaults(variant, run)) faults.push(`${variant.name}: ${fault} (${run.reason})`);
    }
    expect(faults).toEqual([]);
  });
});
