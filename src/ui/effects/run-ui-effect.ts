import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { exhaustive, getErrorMessage } from '../../lib/errors.ts';
import { addHistoryItems, isBusy, type ViewState } from '../app-state/view-state.ts';
import type { ScreenEffect, UiEffect } from '../input/input-result.ts';
import { showMenuChoices } from '../widgets/composer/draft-actions.ts';
import { applyDraftEditorAction, type DraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import type { HistoryItem } from '../widgets/history/history-item.ts';
import { createReviewAnswer, describeRefusedHunks, type ReviewPage } from '../widgets/viewer/review.ts';
import { copyText, pasteImage } from './clipboard.ts';
import { applyPickerChoice } from './pickers.ts';
import { revertHunk, runAndShowSlashCommand, runPanelCommand } from './run-and-show-slash-command.ts';
import {
  buildPromptFromDraft,
  continueRun,
  holdUnresolvedMentions,
  sendPrompt,
  withdrawUnansweredPrompt,
} from './send-prompt.ts';
import type { UiEffectHost } from './ui-effect-host.ts';
import {
  openPastePage,
  openPermissionRequestPage,
  openSessionPreview,
  openSubAgentPage,
  openTextPage,
  openTranscriptPage,
  saveViewerPage,
} from './viewer-pages.ts';

const MAX_MENU_FILES = 8;
const MAX_HISTORY_ENTRIES = 2000;

/** Carries out an effect. Errors are shown on the screen. */
export async function runUiEffect(effect: UiEffect, host: UiEffectHost): Promise<void> {
  try {
    await runAgentEffect(effect, host);
  } catch (thrown) {
    print(host, { kind: 'notice', level: 'error', text: getErrorMessage(thrown) });
  }
}

async function runAgentEffect(effect: UiEffect, host: UiEffectHost): Promise<void> {
  const { conversation, updateView } = host;
  const { agent } = conversation;
  switch (effect.type) {
    case 'prompt':
    case 'steer':
    case 'follow_up':
      if (await holdUnresolvedMentions(effect.parts, host)) return;
      return sendPrompt(effect.type, await host.runInOrder(buildPromptFromDraft(effect.parts, conversation)), agent);
    case 'prompt_instead': {
      const prompt = await host.runInOrder(buildPromptFromDraft(effect.parts, conversation));
      await withdrawUnansweredPrompt(agent);
      return sendPrompt('prompt', prompt, agent);
    }
    case 'abort':
      return agent.abort('user');
    case 'kill_stopping':
      return conversation.killStoppingCommands?.();
    case 'retry_now':
      return agent.retryNow();
    case 'wait_for_limit':
      if ((await conversation.waitForLimit?.()) === undefined) updateView(offerWaitAgain);
      return;
    case 'background':
      conversation.moveToBackground();
      return;
    case 'continue':
      return continueRun(effect.text, conversation);
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
      return runAndShowSlashCommand(effect.line, host);
    case 'shell':
      return conversation.runShell(effect.command);
    case 'mode': {
      const outcome = conversation.setMode(effect.mode);
      if (!outcome.ok) return print(host, { kind: 'notice', level: 'warn', text: outcome.problem });
      return updateView((view) => ({ ...view, facts: { ...view.facts, mode: outcome.mode } }));
    }
    case 'drop_context':
      return conversation.editor?.dropContext();
    case 'remember':
      return conversation.history.add(effect.text);
    default:
      return runScreenEffect(effect, host);
  }
}

async function runScreenEffect(effect: ScreenEffect, host: UiEffectHost): Promise<void> {
  const { conversation, updateView, sessionList } = host;
  switch (effect.type) {
    case 'find_files': {
      const paths = await conversation.findFiles(effect.query, MAX_MENU_FILES);
      return updateView((view) => showMenuChoices(view, 'file', effect.query, paths));
    }
    case 'find_arguments': {
      const completions = (await conversation.completeArgument?.(effect.line)) ?? [];
      return updateView((view) => showMenuChoices(view, 'argument', effect.line, completions));
    }
    case 'recall': {
      const entries = await conversation.history.listRecent(effect.scope, MAX_HISTORY_ENTRIES);
      const action: DraftEditorAction = { type: 'search-in', scope: effect.scope, entries: entries.toReversed() };
      return updateView((view) => ({ ...view, editor: applyDraftEditorAction(view.editor, action, 0) }));
    }
    case 'list_sessions':
      return sessionList.open(effect.scope);
    case 'search_sessions':
      return sessionList.search(effect.text, effect.scope);
    case 'rename_session':
      return sessionList.rename(effect.id, effect.title);
    case 'session':
      if (effect.action === 'preview') return openSessionPreview(effect.id, host);
      if (effect.action === 'remove') return sessionList.remove(effect.id);
      return host.leave({ type: 'resume', sessionId: effect.id, fork: effect.action === 'fork' ? 'fork' : 'same' });
    case 'try_theme':
      host.output.previewTheme(effect.name);
      return host.repaint();
    case 'panel':
      return runPanelCommand(effect.line, host);
    case 'picked':
      return applyPickerChoice(effect.purpose, effect.id, host);
    case 'leave':
      return host.leave({ type: 'leave' });
    case 'suspend':
      return host.suspend();
    case 'external_editor':
      return host.openExternalEditor();
    case 'paste_image':
      return pasteImage(host);
    case 'transcript':
      return openTranscriptPage(host);
    case 'watch':
      return openSubAgentPage(effect.agentId, host);
    case 'view_request':
      return openPermissionRequestPage(effect.request, host);
    case 'take_back':
      return revertHunk(effect.line, effect.viewCommand, host);
    case 'copy':
      await copyText(effect.text, host);
      return;
    case 'view_question':
      return openTextPage('Question', effect.markdown, host);
    case 'view_paste':
      return openPastePage(effect.text, host);
    case 'write_page':
      return saveViewerPage(effect.text, host);
    case 'repaint':
      return host.repaint();
    default:
      return exhaustive(effect);
  }
}

/** Offers to wait for the usage limit again after the wait was stopped. */
function offerWaitAgain(view: ViewState): ViewState {
  if (isBusy(view) || view.lastRunEnd !== 'ended') return view;
  const hint = 'Stopped waiting. Press w to wait again, enter to try now.';
  return addHistoryItems({ ...view, lastRunEnd: 'limited', retry: undefined }, { kind: 'stopped', hint });
}

/** Allows the hunks of an edit that were not refused, and reports the refused ones to the model. */
async function answerParts(page: ReviewPage, host: UiEffectHost): Promise<void> {
  const { conversation, getView } = host;
  if (page.purpose.type !== 'answer') return;
  const { requestId } = page.purpose;
  const ask = getView().dialogRequests.find(({ id }) => id === requestId);
  const proposal = ask?.kind === 'permission' ? await conversation.proposeEdit?.(ask.permission.facts) : undefined;
  if (proposal === undefined || !isDeepStrictEqual(proposal.hunks, page.hunks)) {
    const text = 'The question was already answered, or the file has changed since. Press v to review it again.';
    return print(host, { kind: 'notice', level: 'warn', text });
  }
  const answer = createReviewAnswer(page, (refused) => proposal.createInput(proposal.withoutHunks(refused)));
  const refused = describeRefusedHunks(page);
  if (refused !== undefined) print(host, { kind: 'notice', level: 'info', text: refused });
  conversation.agent.answerPermission(requestId, answer);
}

/** Opens the edited file in the user's editor. The saved text is what is applied. */
async function editProposal({ id, facts }: PermissionRequest, host: UiEffectHost): Promise<void> {
  const proposal = await host.conversation.proposeEdit?.(facts);
  if (proposal === undefined) {
    const text = 'This change cannot be edited here. Press n to say what to do instead.';
    return print(host, { kind: 'notice', level: 'warn', text });
  }
  const saved = await host.editFile(proposal.text, basename(proposal.path));
  if (saved === undefined) return;
  const { agent } = host.conversation;
  if (saved === proposal.text) {
    agent.answerPermission(id, { behavior: 'allow' });
    return;
  }
  const updatedInput = proposal.createInput(saved);
  const note = 'The user opened this edit in an editor and reverted all of its changes.';
  agent.answerPermission(
    id,
    updatedInput === undefined ? { behavior: 'deny', note } : { behavior: 'allow', updatedInput },
  );
}

function print({ updateView }: UiEffectHost, item: HistoryItem): void {
  updateView((view) => addHistoryItems(view, item));
}
