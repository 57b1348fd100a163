import type { AssistantBlock, Message, ResultBlock, UserBlock } from '../../contracts/message.ts';
import type { Stripped } from '../../contracts/query.ts';

export const NO_PICTURE = {
  type: 'text',
  text: '(a picture or document that the provider refused was left out)',
} as const;

/** Thinking goes back only to the model that wrote it, and not at all once the API refused it; so do refused pictures. */
export function leaveOut(view: readonly Message[], model: string, stripped: Stripped): readonly Message[] {
  const refused = lastRefused(view, stripped);
  return view.map((message, at) => {
    if (message.role === 'user') return at <= refused ? withoutPictures(message) : message;
    if (message.role !== 'assistant') return message;
    if (message.model === model && !stripped.thinking) return message;
    return message.blocks.some(isOfItsModel) ? { ...message, blocks: message.blocks.flatMap(forAnyModel) } : message;
  });
}

function isOfItsModel(block: AssistantBlock): boolean {
  if (block.type === 'tool_use' || block.type === 'text') return block.signature !== undefined;
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function forAnyModel(block: AssistantBlock): readonly AssistantBlock[] {
  if (!isOfItsModel(block)) return [block];
  if (block.type !== 'tool_use' && block.type !== 'text') return [];
  const { signature: _signature, ...said } = block;
  return [said];
}

/** Are there pictures that were not refused yet? */
export function hasFreshPictures(view: readonly Message[], stripped: Stripped): boolean {
  const fresh = view.slice(lastRefused(view, stripped) + 1);
  return fresh.some((message) => message.role === 'user' && withoutPictures(message) !== message);
}

function lastRefused(view: readonly Message[], { images }: Stripped): number {
  return images === undefined ? -1 : view.findLastIndex(({ id }) => id === images);
}

function withoutPictures<User extends Extract<Message, { role: 'user' }>>(message: User): User {
  const hasPicture = message.blocks.some(
    (block) =>
      isPicture(block) ||
      (block.type === 'tool_result' && typeof block.content !== 'string' && block.content.some(isPicture)),
  );
  if (!hasPicture) return message;
  const blocks = message.blocks.map((block): UserBlock => {
    if (block.type !== 'tool_result' || typeof block.content === 'string') return isPicture(block) ? NO_PICTURE : block;
    return { ...block, content: block.content.map((part): ResultBlock => (isPicture(part) ? NO_PICTURE : part)) };
  });
  return { ...message, blocks };
}

function isPicture({ type }: UserBlock | ResultBlock): boolean {
  return type === 'image' || type === 'document';
}
