import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChangeReview } from '../../contracts/frontend/command.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { formatCodeBlock } from '../../lib/text/markdown.ts';
import { containsCodeBlock } from '../app-state/needs-highlighter.ts';
import type { Overlay } from '../app-state/overlay.ts';
import { addHistoryItems } from '../app-state/view-state.ts';
import { shortenPath } from '../text/render-context.ts';
import { createReviewPage, selectHunk } from '../widgets/viewer/review.ts';
import {
  DEFAULT_VIEWER_PAGE_OPTIONS,
  openViewer,
  updateGrownPage,
  updateReviewPage,
  type ViewerPage,
  type ViewerPageOptions,
  type ViewerState,
} from '../widgets/viewer/viewer-state.ts';
import type { UiEffectHost } from './ui-effect-host.ts';

/** Opens the transcript as a full-screen page. */
export function openTranscriptPage(host: UiEffectHost): Promise<void> {
  const { lastTruncatedCall } = host.getView();
  const page: ViewerPage = { kind: 'transcript', messages: host.getMessages(), ...getTitleLookup(host) };
  return openPage(
    'Transcript',
    page,
    host,
    lastTruncatedCall === undefined
      ? DEFAULT_VIEWER_PAGE_OPTIONS
      : { ...DEFAULT_VIEWER_PAGE_OPTIONS, expandedCall: lastTruncatedCall },
  );
}

function getTitleLookup({
  conversation: { pastTurns },
}: UiEffectHost): Pick<Extract<ViewerPage, { kind: 'transcript' }>, 'getTitle'> {
  return pastTurns === undefined ? {} : { getTitle: pastTurns.getTitle };
}

/** Opens the transcript of a sub-agent; it is updated while it is open. */
export async function openSubAgentPage(id: string, host: UiEffectHost): Promise<void> {
  const read = async (): Promise<GrowingPage> => {
    const messages = (await host.conversation.subAgentMessages?.(id)) ?? [];
    return { kind: 'transcript', messages, liveSource: id, ...getTitleLookup(host) };
  };
  return openGrowing(`Sub-agent ${id}`, await read(), read, host);
}

/** Opens the output of a command that grows; it is updated while it is open. */
export function openLiveOutputPage(title: string, line: string, markdown: string, host: UiEffectHost): Promise<void> {
  const read = async (): Promise<GrowingPage | undefined> => {
    const outcome = await host.conversation.runCommand(line);
    return outcome.kind === 'show' ? { kind: 'text', markdown: outcome.markdown, liveSource: line } : undefined;
  };
  return openGrowing(title, { kind: 'text', markdown, liveSource: line }, read, host);
}

type GrowingPage = Extract<ViewerPage, { kind: 'transcript' | 'text' }>;

const REFRESH_MS = 1000;

async function openGrowing(
  title: string,
  page: GrowingPage,
  read: () => Promise<GrowingPage | undefined>,
  host: UiEffectHost,
): Promise<void> {
  await openPage(title, page, host);
  void refreshWhileOpen(page.liveSource, read, host).catch(() => undefined); // After a failure the shown content stays.
}

async function refreshWhileOpen(
  of: string | undefined,
  read: () => Promise<GrowingPage | undefined>,
  host: UiEffectHost,
) {
  const { output, updateView, getView } = host;
  while (getOpenViewer(getView().overlay, of) !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS).unref());
    const page = await read();
    const shown = getOpenViewer(getView().overlay, of);
    if (page === undefined || shown === undefined || isSame(shown.page, page)) continue;
    updateView((view) => {
      const { overlay } = view;
      const viewer = getOpenViewer(overlay, of);
      if (overlay?.kind !== 'viewer' || viewer === undefined) return view;
      const rows = output.layoutPage(page, viewer.options);
      return { ...view, overlay: { ...overlay, viewer: updateGrownPage(viewer, page, rows, output.getHeight()) } };
    });
  }
}

/** Returns the open viewer if it shows the page with this id. */
function getOpenViewer(overlay: Overlay | undefined, of: string | undefined): ViewerState | undefined {
  if (overlay?.kind !== 'viewer' || of === undefined) return undefined;
  const { page } = overlay.viewer;
  return 'liveSource' in page && page.liveSource === of ? overlay.viewer : undefined;
}

/** Reports whether a page is unchanged. Messages are only appended, so their number is enough. */
function isSame(before: ViewerPage, page: GrowingPage): boolean {
  if (page.kind === 'text') return before.kind === 'text' && before.markdown === page.markdown;
  return before.kind === 'transcript' && before.messages.length === page.messages.length;
}

/** Opens the content of a permission request; an edit opens as a review of its hunks. */
export async function openPermissionRequestPage(request: PermissionRequest, host: UiEffectHost): Promise<void> {
  const { id, facts, toolName } = request;
  const proposal = facts.kind === 'edit' ? await host.conversation.proposeEdit?.(facts) : undefined;
  if (proposal !== undefined && proposal.hunks.length > 0)
    return openPage(
      shortenPath(proposal.path, host.conversation.info().cwd),
      createReviewPage(proposal.hunks, { type: 'answer', requestId: id }, proposal.path),
      host,
    );
  return openPage(facts.writes?.[0] ?? toolName, { kind: 'request', request }, host);
}

/** Opens the end of a stored session. Closing the page returns to the session list. */
export async function openSessionPreview(id: string, host: UiEffectHost): Promise<void> {
  const markdown = await host.conversation.storedSessions?.preview(id);
  await openPage('Session', { kind: 'text', markdown: markdown ?? 'This session no longer exists.' }, host);
}

/** Opens a text page. Closing it returns to the panel that was open before. */
export function openTextPage(title: string, markdown: string, host: UiEffectHost): Promise<void> {
  return openPage(title, { kind: 'text', markdown }, host);
}

/** Opens a change of this session as a review of its hunks. */
export function openReviewPage(review: FileChangeReview, host: UiEffectHost): Promise<void> {
  return openPage(review.title, createReviewPage(review.hunks, { type: 'take_back', review }), host);
}

/** Updates the open review after a hunk was reverted, and shows a note. */
export function refreshReview(
  review: FileChangeReview | undefined,
  note: string,
  { output, updateView }: UiEffectHost,
): void {
  updateView((view) => {
    const { overlay } = view;
    if (overlay?.kind !== 'viewer' || overlay.viewer.page.kind !== 'review') return view;
    const { viewer } = overlay;
    const { page } = overlay.viewer;
    if (review === undefined) return { ...view, overlay: { ...overlay, viewer: { ...viewer, note } } };
    const fresh = selectHunk(createReviewPage(review.hunks, { type: 'take_back', review }), page.selected);
    const rows = output.layoutPage(fresh, viewer.options);
    return {
      ...view,
      overlay: { ...overlay, viewer: { ...updateReviewPage(viewer, fresh, rows, output.getHeight()), note } },
    };
  });
}

/** Shows a pasted text on a page. */
export function openPastePage(text: string, host: UiEffectHost): Promise<void> {
  return openPage('Paste', { kind: 'text', markdown: formatCodeBlock(text) }, host);
}

/** Writes a page to a new file in the working directory. */
export async function saveViewerPage(text: string, { conversation, updateView, getView }: UiEffectHost): Promise<void> {
  const { cwd, sessionId } = conversation.info();
  const path = join(cwd, `ouro-transcript-${sessionId.slice(0, 8)}-${getView().keys.lastKeyAtMs}.txt`);
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
  updateView((view) => addHistoryItems(view, { kind: 'notice', level: 'info', text: `Transcript saved to ${path}.` }));
}

async function openPage(
  title: string,
  page: ViewerPage,
  { output, updateView }: UiEffectHost,
  shown: ViewerPageOptions = DEFAULT_VIEWER_PAGE_OPTIONS,
): Promise<void> {
  if (!output.hasHighlighting() && hasCode(page)) await output.loadHighlighting().catch(() => undefined); // Shown without colours then.
  const rows = output.layoutPage(page, shown);
  const viewer = openViewer(title, page, rows, output.getHeight(), shown);
  updateView((view) => {
    const { overlay } = view;
    const isReturning = overlay?.kind === 'sessions' || overlay?.kind === 'panel';
    return { ...view, overlay: { kind: 'viewer', viewer, ...(isReturning ? { back: overlay } : {}) } };
  });
}

function hasCode(page: ViewerPage): boolean {
  if (page.kind === 'request' || page.kind === 'review') return false;
  if (page.kind === 'text') return containsCodeBlock(page.markdown);
  return page.messages.some(
    ({ role, ...message }) =>
      role === 'assistant' &&
      'blocks' in message &&
      message.blocks.some((block) => block.type === 'text' && containsCodeBlock(block.text)),
  );
}
