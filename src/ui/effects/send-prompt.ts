import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import { isTypedByUser, type UserMessage } from '../../contracts/message.ts';
import { addHistoryItems } from '../app-state/view-state.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import type { DraftPart } from '../widgets/composer/paste-placeholders.ts';
import type { UiEffectHost } from './ui-effect-host.ts';

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/** Builds the prompt from the parts of a draft: expands its mentions and reads its images. */
export async function buildPromptFromDraft(parts: readonly DraftPart[], conversation: Conversation): Promise<Prompt> {
  const text = parts.map((part) => (part.kind === 'text' ? part.text : `[image: ${part.name}]`)).join('');
  const paths = parts.flatMap((part) => (part.kind === 'image' ? [part.path] : []));
  if (paths.length === 0) return conversation.expandPrompt(text);
  const images = paths.map(async (path) => ({
    mediaType: IMAGE_TYPES[extname(path).toLowerCase()] ?? 'image/png',
    data: (await readFile(path)).toString('base64'),
  }));
  return conversation.expandPrompt(text, await Promise.all(images));
}

/** Puts a message with unknown mentions back into the draft, once. Returns whether it did. */
export async function holdUnresolvedMentions(parts: readonly DraftPart[], host: UiEffectHost): Promise<boolean> {
  const draft = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const { conversation, getView, updateView } = host;
  if (parts.some(({ kind }) => kind === 'image') || getView().warnedDraft === draft) return false;
  const problems = (await conversation.listUnresolvedMentions?.(draft)) ?? [];
  // The user has started another message in the meantime, so this one is sent.
  if (problems.length === 0 || getView().editor.text !== '') return false;
  const text = `${problems.join(' ')} Change the message, or press enter to send it anyway.`;
  updateView((view) => ({
    ...addHistoryItems(view, { kind: 'notice', level: 'warn', text }),
    warnedDraft: draft,
    editor: applyDraftEditorAction(view.editor, { type: 'set-text', text: draft }, 0),
  }));
  return true;
}

/** Sends a prompt: as a new turn when idle, else to the running one. A turn may have started or ended meanwhile. */
export async function sendPrompt(
  delivery: 'prompt' | 'steer' | 'follow_up',
  prompt: Prompt | UserMessage,
  agent: Conversation['agent'],
): Promise<void> {
  // The agent may be idle while the end of the run is still being delivered to listeners.
  if (agent.state().status === 'idle') await agent.waitForIdle();
  if (agent.state().status === 'idle') {
    await agent.prompt(prompt);
    return;
  }
  if (delivery === 'follow_up') agent.followUp(prompt);
  else agent.steer(prompt);
}

/** Continues from the last message. The text is sent if that message is from the model. */
export async function continueRun(text: string, { agent, expandPrompt }: Conversation): Promise<void> {
  const isUnanswered = agent.state().messages.at(-1)?.role === 'user';
  await (isUnanswered || text === '' ? agent.continue() : agent.prompt(await expandPrompt(text)));
}

/** Withdraws the last typed message if it has no reply. A message with an image stays. */
export async function withdrawUnansweredPrompt(agent: Conversation['agent']): Promise<void> {
  if (agent.state().status !== 'idle') return;
  await agent.waitForIdle();
  const { messages } = agent.state();
  const unanswered = messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
  const typed = unanswered.findLast(isTypedByUser);
  const isTextOnly = typed?.blocks.every(({ type }) => type === 'text') === true;
  if (typed !== undefined && isTextOnly && agent.state().status === 'idle') await agent.withdraw(typed.id);
}
