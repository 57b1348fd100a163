import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { PanelContent, SlashCommandOutcome, SlashCommandView } from '../../contracts/frontend/command.ts';
import { mergeLinesThreeWay } from '../../lib/text/diff.ts';
import { addHistoryItems, type ViewState } from '../app-state/view-state.ts';
import { INITIAL_VIM_STATE } from '../widgets/composer/vim.ts';
import type { HistoryItem } from '../widgets/history/history-item.ts';
import { createResumedHistory } from '../widgets/history/resumed-history.ts';
import { createPanelState, type PanelState, replacePanelContent } from '../widgets/panel/panel-state.ts';
import { copyAnswer } from './clipboard.ts';
import { getStatusLineFacts, runStatusLineScript } from './conversation-facts.ts';
import { openPicker } from './pickers.ts';
import { sendPrompt } from './send-prompt.ts';
import type { UiEffectHost } from './ui-effect-host.ts';
import {
  openLiveOutputPage,
  openReviewPage,
  openSubAgentPage,
  openTextPage,
  openTranscriptPage,
  refreshReview,
} from './viewer-pages.ts';

/** Refresh interval of a live panel. */
const LIVE_MS = 1000;

/** Runs a slash command and shows its outcome, below the command line if it prints something. */
export async function runAndShowSlashCommand(line: string, host: UiEffectHost): Promise<void> {
  host.updateView((view) => ({ ...view, commandLine: `/${line}` }));
  const outcome = await host.conversation.runCommand(line);
  refreshStatusLine(host);
  if (outcome.kind === 'prompt') clearCommandLine(host);
  await showOutcome(outcome, host);
  clearCommandLine(host);
}

function clearCommandLine({ updateView }: UiEffectHost): void {
  updateView((view) => (view.commandLine === '' ? view : { ...view, commandLine: '' }));
}

/** Runs a command from a panel: shows the outcome in the panel and refreshes the panel. */
export async function runPanelCommand(line: string, host: UiEffectHost): Promise<void> {
  const startPanel = getOpenPanel(host.getView());
  const outcome = await host.conversation.runCommand(line);
  refreshStatusLine(host);
  const panel = getOpenPanel(host.getView());
  // The panel was closed in the meantime: the outcome is shown as for a typed command.
  if (panel === undefined || panel.panel.command !== startPanel?.panel.command) return showOutcome(outcome, host);
  switch (outcome.kind) {
    case 'done':
    case 'failed': {
      const level = outcome.kind === 'done' ? 'info' : 'warn';
      updatePanel(host, panel.panel.command, (now) => ({ ...now, message: { level, text: outcome.message ?? '' } }));
      return refreshPanel(panel.panel.command, host);
    }
    case 'panel':
      return showPanel(outcome.panel, { ...panel, message: undefined }, host);
    case 'review':
      updatePanel(host, panel.panel.command, (now) => ({ ...now, message: undefined }));
      return openReviewPage(outcome.review, host);
    case 'show':
      updatePanel(host, panel.panel.command, (now) => ({ ...now, message: undefined }));
      return outcome.isLive === true
        ? openLiveOutputPage(panel.panel.title, line, outcome.markdown, host)
        : openTextPage(panel.panel.title, outcome.markdown, host);
    case 'open':
      if (outcome.view !== 'sub_agent') break;
      updatePanel(host, panel.panel.command, (now) => ({ ...now, message: undefined }));
      return openRequestedView(outcome.view, outcome.argument, host);
    default:
  }
  host.updateView((view) => ({ ...view, overlay: undefined }));
  return showOutcome(outcome, host);
}

/** Returns the panel that the open page returns to. */
function getBackPanel({ overlay }: ViewState): PanelState | undefined {
  return overlay?.kind === 'viewer' && overlay.back?.kind === 'panel' ? overlay.back : undefined;
}

/** Reverts a hunk; the review page then shows the remaining hunks and the outcome. */
export async function revertHunk(line: string, viewCommand: string, host: UiEffectHost): Promise<void> {
  const outcome = await host.conversation.runCommand(line);
  const note = outcome.kind === 'done' || outcome.kind === 'failed' ? (outcome.message ?? '') : '';
  const shown = await host.conversation.runCommand(viewCommand);
  refreshReview(shown.kind === 'review' ? shown.review : undefined, note, host);
  const backPanel = getBackPanel(host.getView());
  const list = backPanel === undefined ? undefined : await host.conversation.runCommand(backPanel.panel.command);
  if (list?.kind !== 'panel') return;
  host.updateView((view) => {
    const back = getBackPanel(view);
    if (view.overlay?.kind !== 'viewer' || back === undefined) return view;
    return { ...view, overlay: { ...view.overlay, back: replacePanelContent(back, list.panel) } };
  });
}

async function showOutcome(outcome: SlashCommandOutcome, host: UiEffectHost): Promise<void> {
  const { updateView } = host;
  switch (outcome.kind) {
    case 'show':
      return updateView((view) => addHistoryItems(view, { kind: 'shown', markdown: outcome.markdown }));
    case 'panel':
      return showPanel(outcome.panel, undefined, host);
    case 'review':
      return openReviewPage(outcome.review, host);
    case 'done':
    case 'failed': {
      const { message } = outcome;
      if (message === undefined) return;
      const level = outcome.kind === 'done' ? 'info' : 'warn';
      return updateView((view) => addHistoryItems(view, { kind: 'notice', level, text: message }));
    }
    case 'prompt':
      return sendPrompt('prompt', outcome.message ?? outcome.blocks, host.conversation.agent);
    default:
      return openRequestedView(outcome.view, outcome.argument, host);
  }
}

function showPanel(panel: PanelContent, back: PanelState | undefined, host: UiEffectHost): void {
  host.updateView((view) => ({ ...view, overlay: createPanelState(panel, back) }));
  if (panel.isLive === true) void refreshWhileOpen(panel.command, host).catch(() => undefined); // After a failure the shown content stays.
}

/** Refreshes a live panel as long as it is open. */
async function refreshWhileOpen(line: string, host: UiEffectHost): Promise<void> {
  while (isPanelOpen(host.getView(), line)) {
    await new Promise((resolve) => setTimeout(resolve, LIVE_MS).unref());
    await refreshPanel(line, host);
  }
}

/** Reports whether a panel is open, also below a page that was opened from it. */
function isPanelOpen({ overlay }: ViewState, line: string): boolean {
  const panel = overlay?.kind === 'viewer' ? overlay.back : overlay;
  return panel?.kind === 'panel' && panel.panel.command === line;
}

async function refreshPanel(line: string, host: UiEffectHost): Promise<void> {
  if (getOpenPanel(host.getView())?.panel.command !== line) return;
  const outcome = await host.conversation.runCommand(line);
  if (outcome.kind === 'panel') updatePanel(host, line, (now) => replacePanelContent(now, outcome.panel));
}

function updatePanel({ updateView }: UiEffectHost, line: string, update: (panel: PanelState) => PanelState): void {
  updateView((view) => {
    const { overlay } = view;
    if (overlay?.kind === 'panel' && overlay.panel.command === line) return { ...view, overlay: update(overlay) };
    return view;
  });
}

function getOpenPanel({ overlay }: ViewState): PanelState | undefined {
  return overlay?.kind === 'panel' ? overlay : undefined;
}

/** Refreshes the status line, as a command may have changed its facts or its script. */
function refreshStatusLine({ conversation, updateView }: UiEffectHost): void {
  updateView((view) => ({ ...view, facts: { ...view.facts, ...getStatusLineFacts(conversation) } }));
  runStatusLineScript(conversation, updateView);
}

/** Turns that `/redraw` prints again. */
const REDRAWN_TURNS = 3;

/** Switches vim mode on or off, now and for later starts. */
async function toggleVim({ getView, updateView, conversation }: UiEffectHost): Promise<void> {
  const isOn = getView().vim === undefined;
  const text = isOn ? 'Vim mode is on: esc for normal mode, i for insert mode.' : 'Vim mode is off.';
  updateView((view) =>
    addHistoryItems({ ...view, vim: isOn ? INITIAL_VIM_STATE : undefined }, { kind: 'notice', level: 'info', text }),
  );
  await conversation.saveSetting?.('editorMode', isOn ? 'vim' : 'normal');
}

/** Opens a file in the user's editor. Changes made to the file in the meantime are merged. */
async function editFileAt(path: string, { editFile, updateView }: UiEffectHost): Promise<void> {
  const printNotice = (level: 'info' | 'warn', text: string) =>
    updateView((view) => addHistoryItems(view, { kind: 'notice', level, text }));
  const before = await readFile(path, 'utf8');
  const saved = await editFile(before, basename(path));
  if (saved === undefined || saved === before) return;
  const merged = mergeLinesThreeWay(before, await readFile(path, 'utf8'), saved);
  if (merged !== undefined) {
    await writeFile(path, merged);
    return printNotice('info', `${path} was saved.`);
  }
  const copyPath = `${path}.yours`;
  await writeFile(copyPath, saved);
  printNotice('warn', `${path} was changed in the same lines meanwhile; your version is in ${copyPath}.`);
}

/** Reads an API key in a hidden line and stores it. */
async function loginToProvider(
  provider: string,
  { readHiddenLine, conversation, updateView }: UiEffectHost,
): Promise<void> {
  const printNotice = (level: 'info' | 'warn', text: string) =>
    updateView((view) => addHistoryItems(view, { kind: 'notice', level, text }));
  if (readHiddenLine === undefined || conversation.login === undefined)
    return printNotice('info', `Hidden input is not available here. Run ouro login ${provider} in another terminal.`);
  const key = await readHiddenLine(`API key for ${provider} (hidden, esc cancels): `);
  if (key === undefined) return printNotice('info', 'No key was stored.');
  const { ok, message } = await conversation.login(provider, key);
  printNotice(ok ? 'info' : 'warn', message);
}

/** Opens the view of the screen that a command requested. @internal Exported for tests. */
export async function openRequestedView(view: SlashCommandView, argument: string, host: UiEffectHost): Promise<void> {
  switch (view) {
    case 'help':
      return host.updateView((state) => ({ ...state, overlay: { kind: 'help', filter: '', isFiltering: false } }));
    case 'theme':
    case 'rewind':
      return openPicker(view, host);
    case 'resume':
      return host.sessionList.open('folder');
    case 'transcript':
      return openTranscriptPage(host);
    case 'sub_agent':
      return openSubAgentPage(argument, host);
    case 'copy':
      return copyAnswer(argument, host);
    case 'redraw': {
      const heading: HistoryItem = { kind: 'notice', level: 'info', text: 'Last turns:' };
      const past = (await host.conversation.pastTurns?.loadLatest(REDRAWN_TURNS)) ?? [];
      return host.updateView((state) =>
        addHistoryItems(state, heading, ...createResumedHistory(past, host.getMessages(), state.facts).items),
      );
    }
    case 'tasks':
      return host.updateView((state) => ({ ...state, todosShown: state.todosShown === 'row' ? 'column' : 'row' }));
    case 'vim':
      return toggleVim(host);
    case 'edit_file':
      return editFileAt(argument, host);
    case 'login':
      return loginToProvider(argument, host);
    case 'exit':
      return host.leave({ type: 'leave' });
    default:
      return host.updateView((state) =>
        addHistoryItems(state, { kind: 'notice', level: 'info', text: `The view ${view} is not available here.` }),
      );
  }
}
