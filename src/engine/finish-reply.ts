import type { AssistantBlock, AssistantMessage } from '../contracts/message.ts';
import type { ModelOutcome } from '../contracts/model.ts';
import type { ReplyState } from './reply-state.ts';
import type { Reply } from './turn.ts';

/** The reply once the port has said its last word, and what the end of the turn tells of it. */
export function finishReply(
  { messageId, model, blocks, usage: counted, isShown, firstTokenMs }: ReplyState,
  outcome: ModelOutcome | undefined,
  crash: string | undefined,
) {
  const ended = outcome?.ok === true ? { stopReason: outcome.stopReason } : {};
  const stop = ended.stopReason;
  const failure = outcome?.ok === false ? outcome.failure : undefined;
  const usage = outcome?.ok === true ? outcome.usage : counted;
  // A call that was cut in the middle of its input never happened.
  const whole = stop === 'max_tokens' ? blocks.filter((block) => !isCut(block)) : blocks;
  const end = { model, ...ended, ...(usage === undefined ? {} : { usage }) };
  const message: AssistantMessage = { role: 'assistant', id: messageId, blocks: whole, ...end };
  const shownId = isShown ? messageId : undefined;
  const reply: Reply = { model, shownId, reply: whole.length === 0 ? undefined : message, stop, failure, crash };
  const facts = {
    ...end,
    ...(messageId === '' ? {} : { messageId }),
    ...(failure === undefined ? {} : { failure }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
  };
  return { reply, facts };
}

function isCut(block: AssistantBlock): boolean {
  return block.type === 'tool_use' && block.unparsed !== undefined;
}
