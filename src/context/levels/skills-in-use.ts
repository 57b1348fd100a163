import { isJsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import { callsIn } from '../calls.ts';

export const SKILLS_TITLE = 'Skills in use';

/** Skills the conversation works by: loaded in it, or carried on by an earlier compaction. */
export function skillsInUse(messages: readonly Message[]): readonly string[] {
  return [...new Set([...messages.flatMap(carriedOn), ...messages.flatMap(loadedIn)])];
}

function loadedIn(message: Message): readonly string[] {
  return callsIn(message).flatMap(({ name, input }) => {
    const skill = name === 'Skill' && isJsonObject(input) ? (input.name ?? input.skill) : undefined;
    return typeof skill === 'string' ? [skill] : [];
  });
}

function carriedOn(message: Message): readonly string[] {
  if (message.role !== 'user' || message.origin !== 'summary') return [];
  const text = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
  const list = new RegExp(`(?:^|\\n\\n)${SKILLS_TITLE}[^\\n]*:\\n((?:- [^\\n]+\\n?)+)`).exec(text)?.[1] ?? '';
  return list.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
}
