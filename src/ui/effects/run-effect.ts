import type { Prompt } from '../../contracts/agent.ts';
import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { messageOf } from '../../lib/errors.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { edit } from '../composer/edit.ts';
import type { DraftPart } from '../composer/folds.ts';
import type { Effect } from '../press/effects.ts';
import { filesFound } from '../press/press-composer.ts';
import type { HistoryItem } from '../view/history-item.ts';
import { printing } from '../view/view-state.ts';
import { copyText } from './copy-text.ts';
import { editProposal } from './edit-proposal.ts';
import type { EffectHost } from './effect-host.ts';
import { openView } from './open-view.ts';
import { openDiff, openPaste, openPreview, openTranscript, writePage } from './pages.ts';
import { pasteImage } from './paste-image.ts';
import { openPicker, pick } from './pickers.ts';
import { readImages } from './read-images.ts';

const MENU_FILES = 8;
const MOST_RECALLED = 2000;
const TYPED = ['prompt', 'steer', 'follow_up'];

/** Carries out what a key asked for. Whatever goes wrong is told on the screen. */
export async function runEffect(effect: Effect, host: EffectHost): Promise<void> {
  try {
    await carryOut(effect, host);
  } catch (thrown) {
    say(host, { kind: 'notice', level: 'error', text: messageOf(thrown) });
  }
}

async function carryOut(effect: Effect, host: EffectHost): Promise<void> {
  const { conversation, change } = host;
  const { agent } = conversation;
  switch (effect.type) {
    case 'prompt':
    case 'steer':
    case 'follow_up':
      return send(effect.type, await host.inOrder(promptOf(effect.parts, conversation)), host);
    case 'prompt_instead': {
      const words = await host.inOrder(promptOf(effect.parts, conversation));
      await withdrawUnanswered(agent);
      return send('prompt', words, host);
    }
    case 'abort':
      return agent.abort('user');
    case 'kill_stopping':
      return conversation.killStopping?.();
    case 'retry_now':
      return agent.retryNow();
    case 'continue':
      return goOn(effect.words, conversation);
    case 'answer_permission':
      agent.answerPermission(effect.id, effect.answer);
      return;
    case 'answer_question':
      agent.answerQuestion(effect.id, effect.answer);
      return;
    case 'unqueue':
      agent.unqueue(effect.id);
      return;
    case 'command':
      return showOutcome(await conversation.runCommand(effect.line), host);
    case 'shell':
      return conversation.runShell(effect.command);
    case 'find_files': {
      const paths = await conversation.findFiles(effect.query, MENU_FILES);
      return change((view) => filesFound(view, effect.query, paths));
    }
    case 'mode': {
      const set = conversation.setMode(effect.mode);
      if (!set.ok) return say(host, { kind: 'notice', level: 'warn', text: set.why });
      return change((view) => ({ ...view, facts: { ...view.facts, mode: set.mode } }));
    }
    case 'list_sessions':
      return host.sessions.open(effect.scope);
    case 'search_sessions':
      return host.sessions.search(effect.words, effect.scope);
    case 'rename_session':
      return host.sessions.rename(effect.id, effect.title);
    case 'session':
      return onSession(effect.does, effect.id, host);
    case 'try_theme':
      host.output.tryTheme(effect.name);
      return host.repaint();
    case 'open_picker':
      return openPicker(effect.purpose, host);
    case 'picked':
      return pick(effect.purpose, effect.id, host);
    case 'recall': {
      const entries = await conversation.history.recent(effect.scope, MOST_RECALLED);
      const found = { type: 'search-in', scope: effect.scope, entries: entries.toReversed() } as const;
      return change((view) => ({ ...view, editor: edit(view.editor, found, 0) }));
    }
    case 'remember':
      return conversation.history.add(effect.words);
    case 'leave':
      return host.leave({ type: 'leave' });
    case 'suspend':
      return host.suspend();
    case 'external_editor':
      return host.editExternally();
    case 'paste_image':
      return pasteImage(host);
    case 'transcript':
      return openTranscript(host);
    case 'edit_proposal':
      return editProposal(effect.request, host);
    case 'view_diff':
      return openDiff(effect.request, host);
    case 'copy':
      await copyText(effect.text, host);
      return;
    case 'view_paste':
      return openPaste(effect.text, host);
    case 'write_page':
      return writePage(effect.text, host);
    case 'background':
      conversation.moveToBackground();
      return;
    case 'repaint':
      return host.repaint();
    default:
      return exhaustive(effect);
  }
}

async function goOn(words: string, { agent, expandPrompt }: Conversation): Promise<void> {
  const isOpen = agent.state().messages.at(-1)?.role === 'user';
  await (isOpen || words === '' ? agent.continue() : agent.prompt(await expandPrompt(words)));
}

/** The last words that were typed, when nothing came of them; what goes with them beside words is not typed again. */
async function withdrawUnanswered(agent: Conversation['agent']): Promise<void> {
  if (agent.state().status !== 'idle') return;
  await agent.waitForIdle();
  const { messages } = agent.state();
  const open = messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
  const typed = open.findLast((message) => message.role === 'user' && TYPED.includes(message.origin));
  const isWords = typed?.role === 'user' && typed.blocks.every(({ type }) => type === 'text');
  if (typed !== undefined && isWords && agent.state().status === 'idle') await agent.withdraw(typed.id);
}

async function onSession(does: 'open' | 'fork' | 'preview' | 'remove', id: string, host: EffectHost): Promise<void> {
  switch (does) {
    case 'preview':
      return openPreview(id, host);
    case 'remove':
      return host.sessions.remove(id);
    default:
      return host.leave({ type: 'resume', sessionId: id, fork: does === 'fork' ? 'fork' : 'same' });
  }
}

async function promptOf(parts: readonly DraftPart[], conversation: Conversation): Promise<Prompt> {
  const words = parts.map((part) => (part.kind === 'text' ? part.text : `[image: ${part.name}]`)).join('');
  const images = await readImages(parts);
  return images.length === 0 ? conversation.expandPrompt(words) : conversation.expandPrompt(words, images);
}

/** A query may have begun or ended while the words were read: what is said is never lost. */
async function send(how: 'prompt' | 'steer' | 'follow_up', words: Prompt, { conversation }: EffectHost): Promise<void> {
  const { agent } = conversation;
  // A run that has told its end may still be telling it to others.
  if (agent.state().status === 'idle') await agent.waitForIdle();
  if (agent.state().status === 'idle') {
    await agent.prompt(words);
    return;
  }
  if (how === 'follow_up') agent.followUp(words);
  else agent.steer(words);
}

async function showOutcome(outcome: CommandOutcome, host: EffectHost): Promise<void> {
  switch (outcome.kind) {
    case 'show':
      return say(host, { kind: 'shown', markdown: outcome.markdown });
    case 'done':
      return outcome.words === undefined
        ? undefined
        : say(host, { kind: 'notice', level: 'info', text: outcome.words });
    case 'failed':
      return say(host, { kind: 'notice', level: 'warn', text: outcome.words });
    case 'prompt':
      return send('prompt', outcome.blocks, host);
    default:
      return openView(outcome.view, outcome.argument, host);
  }
}

function say({ change }: EffectHost, item: HistoryItem): void {
  change((view) => printing(view, item));
}
