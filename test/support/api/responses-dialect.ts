import type { Dialect, RequestBody, ServerEvent } from './dialect.ts';
import { splitText } from './events.ts';
import { OPENAI_DIALECT } from './openai-dialect.ts';
import type { ApiBlock, ApiReply } from './reply.ts';
import { violationOfResponses } from './validate-responses.ts';
import { isDict } from './values.ts';

/** OpenAI's Responses API, as it streams. */
export const RESPONSES_DIALECT: Dialect = {
  ...OPENAI_DIALECT,
  isConversation: (method, path) => method === 'POST' && /\/responses(\?|$)/.test(path),
  refusedCredentials: (headers, expected) => {
    const key = headers['api-key'] ?? /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    if (key === undefined) return "You didn't provide an API key.";
    return expected === undefined || key === expected ? undefined : 'Incorrect API key provided.';
  },
  violationOf: violationOfResponses,
  eventsOf: (reply, id, body) => numbered(eventsOfReply(reply, id, body)),
  frame: ({ event, data }) =>
    `event: ${event}\ndata: ${JSON.stringify(event === 'error' ? bareError(data) : data)}\n\n`,
  messageOf: (reply, id, body) => responseOf(reply, id, body),
};

/** An error in a stream has no envelope. */
function bareError(data: unknown): unknown {
  const error = isDict(data) && isDict(data.error) ? data.error : {};
  return { type: 'error', code: error.type, message: error.message, param: null, sequence_number: 99 };
}

function numbered(events: readonly ServerEvent[]): readonly ServerEvent[] {
  return events.map(({ event, data }, sequence_number) => ({
    event,
    data: { ...(isDict(data) ? data : {}), sequence_number },
  }));
}

function eventsOfReply(reply: ApiReply, id: string, body: RequestBody): readonly ServerEvent[] {
  const response = { id: `resp_${id}`, object: 'response', model: body.model, status: 'in_progress', output: [] };
  const reported = (type: string, more: object): ServerEvent => ({ event: type, data: { type, ...more } });
  const items = listShownBlocks(reply, body).flatMap((block, output_index) =>
    itemEvents(block, reply).map(([type, more]) => reported(type, { output_index, ...more })),
  );
  const last = responseOf(reply, id, body);
  const end = last.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return [
    reported('response.created', { response }),
    reported('response.in_progress', { response }),
    ...items,
    ...(reply.stop === undefined ? [] : [reported(end, { response: last })]),
  ];
}

/** The blocks of a reply, each search with the pages it found, if they are asked for. */
function listShownBlocks({ blocks }: ApiReply, { include }: RequestBody): readonly ApiBlock[] {
  const isAsked = Array.isArray(include) && include.includes('web_search_call.action.sources');
  const found = blocks.filter(({ type }) => type === 'web_search_tool_result');
  return blocks
    .filter(({ type }) => type !== 'web_search_tool_result')
    .map((block) => {
      if (block.type !== 'server_tool_use' || !isAsked) return block;
      const result = found.find(({ tool_use_id }) => tool_use_id === block.id);
      const pages = Array.isArray(result?.content) ? result.content.filter(isDict) : [];
      return { ...block, sources: pages.map(({ url }) => ({ type: 'url', url })) };
    });
}

type ResponsesEvent = readonly [type: string, more: object];

function itemEvents(block: ApiBlock, { chunk, stop }: ApiReply): readonly ResponsesEvent[] {
  const item = itemOf(block, stop);
  const item_id = item.id;
  const added = (begun: object): ResponsesEvent => [
    'response.output_item.added',
    { item: { ...item, ...begun, status: 'in_progress' } },
  ];
  const done: ResponsesEvent = ['response.output_item.done', { item }];
  if (block.type === 'thinking') {
    const at = { item_id, summary_index: 0 };
    return [
      added({ summary: [], encrypted_content: '' }),
      ['response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }],
      ...splitText(String(block.thinking), chunk).map(
        (delta): ResponsesEvent => ['response.reasoning_summary_text.delta', { ...at, delta }],
      ),
      ['response.reasoning_summary_text.done', { ...at, text: block.thinking }],
      done,
    ];
  }
  if (block.type === 'server_tool_use')
    return [added({ action: undefined }), ['response.web_search_call.completed', { item_id }], done];
  if (block.type === 'tool_use') {
    const json = argumentsOf(block);
    return [
      added({ arguments: '' }),
      ...splitText(json, chunk).map(
        (delta): ResponsesEvent => ['response.function_call_arguments.delta', { item_id, delta }],
      ),
      ['response.function_call_arguments.done', { item_id, arguments: json }],
      ...(stop === 'max_tokens' ? [] : [done]),
    ];
  }
  const at = { item_id, content_index: 0 };
  const kind = stop === 'refusal' ? 'response.refusal' : 'response.output_text';
  return [
    added({ content: [] }),
    ['response.content_part.added', { ...at, part: { type: 'output_text', text: '' } }],
    ...splitText(String(block.text), chunk).map((delta): ResponsesEvent => [`${kind}.delta`, { ...at, delta }]),
    [`${kind}.done`, { ...at, text: block.text }],
    done,
  ];
}

const argumentsOf = (block: ApiBlock): string =>
  typeof block.json === 'string' ? block.json : JSON.stringify(block.input);

function itemOf(block: ApiBlock, stop: string | undefined): { readonly id: string; readonly [key: string]: unknown } {
  const id = `item_${crypto.randomUUID()}`;
  switch (block.type) {
    case 'thinking': {
      const summary = [{ type: 'summary_text', text: block.thinking }];
      return { type: 'reasoning', id, summary, encrypted_content: block.signature };
    }
    case 'tool_use':
      return { type: 'function_call', id, call_id: block.id, name: block.name, arguments: argumentsOf(block) };
    case 'server_tool_use': {
      const action = {
        type: 'search',
        ...(isDict(block.input) && block.input),
        ...(block.sources ? { sources: block.sources } : {}),
      };
      return { type: 'web_search_call', id, status: 'completed', action };
    }
    default: {
      const cited = Array.isArray(block.citations) ? block.citations.filter(isDict) : [];
      const annotations = cited.map(({ url, title }) => ({
        type: 'url_citation',
        url,
        title,
        start_index: 0,
        end_index: 1,
      }));
      const part =
        stop === 'refusal'
          ? { type: 'refusal', refusal: block.text }
          : { type: 'output_text', text: block.text, annotations };
      return { type: 'message', id, role: 'assistant', content: [part] };
    }
  }
}

function responseOf(reply: ApiReply, id: string, body: RequestBody) {
  const { usage, stop, blocks } = reply;
  const cached_tokens = usage.cache_read_input_tokens;
  const input_tokens = usage.input_tokens + cached_tokens;
  const isFiltered = stop === 'refusal' && blocks.length === 0;
  const reason = stop === 'max_tokens' ? 'max_output_tokens' : isFiltered ? 'content_filter' : undefined;
  return {
    id: `resp_${id}`,
    object: 'response',
    model: body.model,
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output: listShownBlocks(reply, body).map((block) => itemOf(block, stop)),
    usage: {
      input_tokens,
      input_tokens_details: { cached_tokens },
      output_tokens: usage.output_tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input_tokens + usage.output_tokens,
    },
  };
}
