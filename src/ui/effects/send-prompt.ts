import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { isTypedByPerson } from '../../contracts/message.ts';
import { edit } from '../composer/edit.ts';
import type { DraftPart } from '../composer/folds.ts';
import { printing } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/** What a draft says to the model: its words with what they mention, and its pictures by their bytes. */
export async function promptOf(parts: readonly DraftPart[], conversation: Conversation): Promise<Prompt> {
  const words = parts.map((part) => (part.kind === 'text' ? part.text : `[image: ${part.name}]`)).join('');
  const paths = parts.flatMap((part) => (part.kind === 'image' ? [part.path] : []));
  if (paths.length === 0) return conversation.expandPrompt(words);
  const images = paths.map(async (path) => ({
    mediaType: IMAGE_TYPES[extname(path).toLowerCase()] ?? 'image/png',
    data: (await readFile(path)).toString('base64'),
  }));
  return conversation.expandPrompt(words, await Promise.all(images));
}

/** What a message names in vain is told before it is sent, once: the words come back, to be mended or sent as they are. */
export async function holdsBack(parts: readonly DraftPart[], host: EffectHost): Promise<boolean> {
  const words = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const { conversation, now, change } = host;
  if (parts.some(({ kind }) => kind === 'image') || now().held === words) return false;
  const problems = (await conversation.unfoundMentions?.(words)) ?? [];
  // Who goes on writing has not been waiting for this.
  if (problems.length === 0 || now().editor.text !== '') return false;
  const text = `${problems.join(' ')} Change the message, or press enter to send it as it is.`;
  change((view) => ({
    ...printing(view, { kind: 'notice', level: 'warn', text }),
    held: words,
    editor: edit(view.editor, { type: 'set-text', text: words }, 0),
  }));
  return true;
}

/** Says it now, or to the run that goes on. A query may have begun or ended while the words were read. */
export async function sendPrompt(
  how: 'prompt' | 'steer' | 'follow_up',
  words: Prompt,
  agent: Conversation['agent'],
): Promise<void> {
  // A run that has ended for the agent may still be on its way to other listeners.
  if (agent.state().status === 'idle') await agent.waitForIdle();
  if (agent.state().status === 'idle') {
    await agent.prompt(words);
    return;
  }
  if (how === 'follow_up') agent.followUp(words);
  else agent.steer(words);
}

/** Runs on from the last message; the words are said where the model had the last word. */
export async function continueRun(words: string, { agent, expandPrompt }: Conversation): Promise<void> {
  const isOpen = agent.state().messages.at(-1)?.role === 'user';
  await (isOpen || words === '' ? agent.continue() : agent.prompt(await expandPrompt(words)));
}

/** Takes the last typed words back when nothing came of them; words that came with a picture stay. */
export async function withdrawUnanswered(agent: Conversation['agent']): Promise<void> {
  if (agent.state().status !== 'idle') return;
  await agent.waitForIdle();
  const { messages } = agent.state();
  const open = messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
  const typed = open.findLast(isTypedByPerson);
  const isWords = typed?.blocks.every(({ type }) => type === 'text') === true;
  if (typed !== undefined && isWords && agent.state().status === 'idle') await agent.withdraw(typed.id);
}
