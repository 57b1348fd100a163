import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { Panel } from '../../contracts/face/panel.ts';
import { openPanel, type PanelView, renewPanel } from '../view/panel-view.ts';
import { printing, type ViewState } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';
import { askStatusLine, statusFactsOf } from './facts.ts';
import { openView } from './open-view.ts';
import { openReview, openText, relayReview, showLive } from './pages.ts';
import { sendPrompt } from './send-prompt.ts';

const LIVE_MS = 1000;

/**
 * Runs a command and shows what it comes to, below what was typed; the status line may say something else afterwards.
 * A list, a page and a prompt stand for themselves: nothing is left of the command when they are closed.
 */
export async function runLine(line: string, host: EffectHost): Promise<void> {
  host.change((view) => ({ ...view, commandLine: `/${line}` }));
  const outcome = await host.conversation.runCommand(line);
  afterCommand(host);
  if (outcome.kind === 'prompt') forget(host);
  await showOutcome(outcome, host);
  forget(host);
}

function forget({ change: changeView }: EffectHost): void {
  changeView((view) => (view.commandLine === '' ? view : { ...view, commandLine: '' }));
}

/** The same from inside a panel: the answer stands in it, and it shows what holds now. */
export async function runInPanel(line: string, host: EffectHost): Promise<void> {
  const opened = panelOf(host.now());
  const outcome = await host.conversation.runCommand(line);
  afterCommand(host);
  const panel = panelOf(host.now());
  // Closed meanwhile: the answer is told as if it had been typed.
  if (panel === undefined || panel.panel.line !== opened?.panel.line) return showOutcome(outcome, host);
  switch (outcome.kind) {
    case 'done':
    case 'failed': {
      const level = outcome.kind === 'done' ? 'info' : 'warn';
      change(host, panel.panel.line, (now) => ({ ...now, said: { level, text: outcome.words ?? '' } }));
      return renew(panel.panel.line, host);
    }
    case 'panel':
      return show(outcome.panel, { ...panel, said: undefined }, host);
    case 'review':
      change(host, panel.panel.line, (now) => ({ ...now, said: undefined }));
      return openReview(outcome.review, host);
    case 'show':
      change(host, panel.panel.line, (now) => ({ ...now, said: undefined }));
      return outcome.isLive === true
        ? showLive(panel.panel.title, line, outcome.markdown, host)
        : openText(panel.panel.title, outcome.markdown, host);
    case 'open':
      if (outcome.view !== 'sub_agent') break;
      change(host, panel.panel.line, (now) => ({ ...now, said: undefined }));
      return openView(outcome.view, outcome.argument, host);
    default:
  }
  host.change((view) => ({ ...view, overlay: undefined }));
  return showOutcome(outcome, host);
}

/** The panel behind a page. */
function backOf({ overlay }: ViewState): PanelView | undefined {
  return overlay?.kind === 'viewer' && overlay.back?.kind === 'panel' ? overlay.back : undefined;
}

/** Takes a part of a change back; the page then shows what is left of it, and what came of it. */
export async function takeBack(line: string, shows: string, host: EffectHost): Promise<void> {
  const done = await host.conversation.runCommand(line);
  const words = done.kind === 'done' || done.kind === 'failed' ? (done.words ?? '') : '';
  const now = await host.conversation.runCommand(shows);
  relayReview(now.kind === 'review' ? now.review : undefined, words, host);
  const behind = backOf(host.now());
  const list = behind === undefined ? undefined : await host.conversation.runCommand(behind.panel.line);
  if (list?.kind !== 'panel') return;
  host.change((view) => {
    const back = backOf(view);
    if (view.overlay?.kind !== 'viewer' || back === undefined) return view;
    return { ...view, overlay: { ...view.overlay, back: renewPanel(back, list.panel) } };
  });
}

async function showOutcome(outcome: CommandOutcome, host: EffectHost): Promise<void> {
  const { change: changeView } = host;
  switch (outcome.kind) {
    case 'show':
      return changeView((view) => printing(view, { kind: 'shown', markdown: outcome.markdown }));
    case 'panel':
      return show(outcome.panel, undefined, host);
    case 'review':
      return openReview(outcome.review, host);
    case 'done':
    case 'failed': {
      const { words } = outcome;
      if (words === undefined) return;
      const level = outcome.kind === 'done' ? 'info' : 'warn';
      return changeView((view) => printing(view, { kind: 'notice', level, text: words }));
    }
    case 'prompt':
      return sendPrompt('prompt', outcome.blocks, host.conversation.agent);
    default:
      return openView(outcome.view, outcome.argument, host);
  }
}

function show(panel: Panel, back: PanelView | undefined, host: EffectHost): void {
  host.change((view) => ({ ...view, overlay: openPanel(panel, back) }));
  if (panel.isLive === true) void keepFresh(panel.line, host).catch(() => undefined); // What was shown stays.
}

/** As long as a panel is open that changes by itself, it shows what is so now. */
async function keepFresh(line: string, host: EffectHost): Promise<void> {
  while (isOpen(host.now(), line)) {
    await new Promise((resolve) => setTimeout(resolve, LIVE_MS).unref());
    await renew(line, host);
  }
}

/** Also behind a page that was opened from it. */
function isOpen({ overlay }: ViewState, line: string): boolean {
  const panel = overlay?.kind === 'viewer' ? overlay.back : overlay;
  return panel?.kind === 'panel' && panel.panel.line === line;
}

async function renew(line: string, host: EffectHost): Promise<void> {
  if (panelOf(host.now())?.panel.line !== line) return;
  const outcome = await host.conversation.runCommand(line);
  if (outcome.kind === 'panel') change(host, line, (now) => renewPanel(now, outcome.panel));
}

function change({ change: changeView }: EffectHost, line: string, update: (panel: PanelView) => PanelView): void {
  changeView((view) => {
    const { overlay } = view;
    if (overlay?.kind === 'panel' && overlay.panel.line === line) return { ...view, overlay: update(overlay) };
    return view;
  });
}

function panelOf({ overlay }: ViewState): PanelView | undefined {
  return overlay?.kind === 'panel' ? overlay : undefined;
}

/** A command may have changed what the status line says, or who writes it. */
function afterCommand({ conversation, change: changeView }: EffectHost): void {
  changeView((view) => ({ ...view, facts: { ...view.facts, ...statusFactsOf(conversation) } }));
  askStatusLine(conversation, changeView);
}
