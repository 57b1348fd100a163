import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { messageOf } from '../../lib/errors.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { edit } from '../composer/edit.ts';
import type { Effect, ScreenEffect } from '../press/effects.ts';
import { choicesFound } from '../press/press-composer.ts';
import type { HistoryItem } from '../view/history-item.ts';
import { type ReviewPage, refusedWords, reviewAnswer } from '../view/review-page.ts';
import { isBusy, printing, type ViewState } from '../view/view-state.ts';
import { copyText } from './copy-text.ts';
import type { EffectHost } from './effect-host.ts';
import { openPaste, openPreview, openRequest, openText, showSubAgent, showTranscript, writePage } from './pages.ts';
import { pasteImage } from './paste-image.ts';
import { pick } from './pickers.ts';
import { continueRun, holdsBack, promptOf, sendPrompt, withdrawUnanswered } from './send-prompt.ts';
import { runInPanel, runLine, takeBack } from './show-outcome.ts';

const MENU_FILES = 8;
const MOST_RECALLED = 2000;

/** Carries out what a key asked for. Whatever goes wrong is shown on the screen. */
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
      if (await holdsBack(effect.parts, host)) return;
      return sendPrompt(effect.type, await host.inOrder(promptOf(effect.parts, conversation)), agent);
    case 'prompt_instead': {
      const words = await host.inOrder(promptOf(effect.parts, conversation));
      await withdrawUnanswered(agent);
      return sendPrompt('prompt', words, agent);
    }
    case 'abort':
      return agent.abort('user');
    case 'kill_stopping':
      return conversation.killStopping?.();
    case 'retry_now':
      return agent.retryNow();
    case 'wait_for_limit':
      if ((await conversation.waitForLimit?.()) === undefined) change(stillLimited);
      return;
    case 'background':
      conversation.moveToBackground();
      return;
    case 'continue':
      return continueRun(effect.words, conversation);
    case 'answer_permission':
      agent.answerPermission(effect.id, effect.answer);
      return;
    case 'answer_question':
      agent.answerQuestion(effect.id, effect.answer);
      return;
    case 'answer_parts':
      return answerParts(effect.page, host);
    case 'edit_proposal':
      return editProposal(effect.request, host);
    case 'unqueue':
      agent.unqueue(effect.id);
      return;
    case 'command':
      return runLine(effect.line, host);
    case 'shell':
      return conversation.runShell(effect.command);
    case 'mode': {
      const set = conversation.setMode(effect.mode);
      if (!set.ok) return say(host, { kind: 'notice', level: 'warn', text: set.why });
      return change((view) => ({ ...view, facts: { ...view.facts, mode: set.mode } }));
    }
    case 'remember':
      return conversation.history.add(effect.words);
    default:
      return onScreen(effect, host);
  }
}

async function onScreen(effect: ScreenEffect, host: EffectHost): Promise<void> {
  const { conversation, change, sessions } = host;
  switch (effect.type) {
    case 'find_files': {
      const paths = await conversation.findFiles(effect.query, MENU_FILES);
      return change((view) => choicesFound(view, 'file', effect.query, paths));
    }
    case 'find_arguments': {
      const words = (await conversation.completeArgument?.(effect.line)) ?? [];
      return change((view) => choicesFound(view, 'argument', effect.line, words));
    }
    case 'recall': {
      const entries = await conversation.history.recent(effect.scope, MOST_RECALLED);
      const found = { type: 'search-in', scope: effect.scope, entries: entries.toReversed() } as const;
      return change((view) => ({ ...view, editor: edit(view.editor, found, 0) }));
    }
    case 'list_sessions':
      return sessions.open(effect.scope);
    case 'search_sessions':
      return sessions.search(effect.words, effect.scope);
    case 'rename_session':
      return sessions.rename(effect.id, effect.title);
    case 'session':
      if (effect.does === 'preview') return openPreview(effect.id, host);
      if (effect.does === 'remove') return sessions.remove(effect.id);
      return host.leave({ type: 'resume', sessionId: effect.id, fork: effect.does === 'fork' ? 'fork' : 'same' });
    case 'try_theme':
      host.output.tryTheme(effect.name);
      return host.repaint();
    case 'panel':
      return runInPanel(effect.line, host);
    case 'picked':
      return pick(effect.purpose, effect.id, host);
    case 'leave':
      return host.leave({ type: 'leave' });
    case 'suspend':
      return host.suspend();
    case 'external_editor':
      return host.editExternally();
    case 'paste_image':
      return pasteImage(host);
    case 'transcript':
      return showTranscript(host);
    case 'watch':
      return showSubAgent(effect.agentId, host);
    case 'view_request':
      return openRequest(effect.request, host);
    case 'take_back':
      return takeBack(effect.line, effect.shows, host);
    case 'copy':
      await copyText(effect.text, host);
      return;
    case 'view_question':
      return openText('Question', effect.markdown, host);
    case 'view_paste':
      return openPaste(effect.text, host);
    case 'write_page':
      return writePage(effect.text, host);
    case 'repaint':
      return host.repaint();
    default:
      return exhaustive(effect);
  }
}

/** The wait was stopped, so it is offered again. */
function stillLimited(view: ViewState): ViewState {
  if (isBusy(view) || view.rest !== 'ended') return view;
  const hint = 'Stopped waiting. w waits again, enter tries now.';
  return printing({ ...view, rest: 'limited', retry: undefined }, { kind: 'stopped', hint });
}

/** Allows the parts of an edit that were not refused, and tells the model of the others. */
async function answerParts(page: ReviewPage, host: EffectHost): Promise<void> {
  const { conversation, now } = host;
  if (page.goal.type !== 'answer') return;
  const { requestId } = page.goal;
  const ask = now().asks.find(({ id }) => id === requestId);
  const proposal = ask?.kind === 'permission' ? await conversation.proposal?.(ask.request.facts) : undefined;
  if (proposal === undefined || !isDeepStrictEqual(proposal.hunks, page.hunks)) {
    const text = 'This was answered already, or the file has changed since it was shown. Look at it again with v.';
    return say(host, { kind: 'notice', level: 'warn', text });
  }
  const answer = reviewAnswer(page, (refused) => proposal.inputFor(proposal.without(refused)));
  const refused = refusedWords(page);
  if (refused !== undefined) say(host, { kind: 'notice', level: 'info', text: refused });
  conversation.agent.answerPermission(requestId, answer);
}

/** The file as an edit would leave it, in the person's editor; what is saved there is what is applied. */
async function editProposal({ id, facts }: PermissionRequest, host: EffectHost): Promise<void> {
  const proposal = await host.conversation.proposal?.(facts);
  if (proposal === undefined) {
    const text = 'This change cannot be edited beforehand. n refuses it, t says what should be different.';
    return say(host, { kind: 'notice', level: 'warn', text });
  }
  const saved = await host.editFile(proposal.text, basename(proposal.path));
  if (saved === undefined) return;
  const { agent } = host.conversation;
  if (saved === proposal.text) {
    agent.answerPermission(id, { behavior: 'allow' });
    return;
  }
  const updatedInput = proposal.inputFor(saved);
  const message = 'The user looked at this edit in an editor and took everything back that it would have changed.';
  agent.answerPermission(
    id,
    updatedInput === undefined ? { behavior: 'deny', message } : { behavior: 'allow', updatedInput },
  );
}

function say({ change }: EffectHost, item: HistoryItem): void {
  change((view) => printing(view, item));
}
