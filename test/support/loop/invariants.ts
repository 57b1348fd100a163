import type { ModelRequest, RequestMessage } from '../../../src/contracts/model.ts';

/** Returns descriptions of the invariants that a finished request violates. */
export function findInvariantViolations(request: ModelRequest): readonly string[] {
  const breaches: string[] = [];
  const { messages } = request;
  const ids = new Set<string>();
  if (messages[0]?.role !== 'user') breaches.push('the first message is not a user message');
  const end = messages.at(-1);
  if (end?.role !== 'user' && end?.isPaused !== true) breaches.push('the last message is not a user message');
  messages.forEach((message, at) => {
    if (message.blocks.length === 0) breaches.push(`message ${at} is empty`);
    if (messages[at - 1]?.role === message.role) breaches.push(`message ${at} repeats the role before it`);
    breaches.push(...blockBreaches(message, at));
    if (message.role !== 'assistant') return;
    const last = message.blocks.at(-1);
    if (message.isPaused !== true && (last?.type === 'thinking' || last?.type === 'redacted_thinking'))
      breaches.push(`message ${at} ends in thinking`);
    const wanted = message.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    for (const id of wanted) {
      if (ids.has(id)) breaches.push(`call ${id} appears twice`);
      ids.add(id);
    }
    const next = messages[at + 1];
    const answered = (next?.blocks ?? []).flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (wanted.join() !== answered.join()) breaches.push(`calls ${wanted.join()} are answered by ${answered.join()}`);
    const firstWords = (next?.blocks ?? []).findIndex((block) => block.type !== 'tool_result');
    if (firstWords !== -1 && firstWords < answered.length) breaches.push(`message ${at + 1} has words before results`);
  });
  if (/\\ud[89a-f]/i.test(JSON.stringify(messages))) breaches.push('a lone surrogate');
  if (request.breakpoints.length > 4) breaches.push('more than four cache breakpoints');
  for (const point of request.breakpoints) {
    if (point.at !== 'message') continue;
    const block = messages[point.message]?.blocks[point.block];
    if (block === undefined || block.type === 'thinking') breaches.push('a cache breakpoint on nothing or on thinking');
  }
  return breaches;
}

function blockBreaches(message: RequestMessage, at: number): readonly string[] {
  const breaches: string[] = [];
  for (const block of message.blocks) {
    if (block.type === 'text' && block.text.trim() === '') breaches.push(`message ${at} has a blank text`);
    if (block.type === 'opaque') breaches.push(`message ${at} sends an unknown block back`);
    if (block.type === 'thinking' && block.signature === '') breaches.push(`message ${at} has unsigned thinking`);
    if (
      block.type === 'tool_use' &&
      (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input))
    ) {
      breaches.push(`message ${at} has a call whose input is no object`);
    }
    if (block.type === 'tool_result' && block.content.length === 0) breaches.push(`message ${at} has an empty result`);
  }
  return breaches;
}
