import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Review } from '../../contracts/face/command.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { fenced } from '../../lib/text/fence.ts';
import { shortPath } from '../text/drawing.ts';
import { textHoldsCode } from '../view/holds-code.ts';
import type { Overlay } from '../view/overlay.ts';
import { moveReview, reviewPage } from '../view/review-page.ts';
import { printing } from '../view/view-state.ts';
import {
  FOLDED,
  openViewer,
  type Shown,
  type Viewer,
  type ViewerPage,
  withMore,
  withReview,
} from '../view/viewer-state.ts';
import type { EffectHost } from './effect-host.ts';

/** Everything that was said, on a screen of its own. */
export function showTranscript(host: EffectHost): Promise<void> {
  const { newestCut } = host.now();
  const page: ViewerPage = { kind: 'transcript', messages: host.messages(), ...titlesOf(host) };
  return open('Transcript', page, host, newestCut === undefined ? FOLDED : { ...FOLDED, call: newestCut });
}

function titlesOf({
  conversation: { past },
}: EffectHost): Pick<Extract<ViewerPage, { kind: 'transcript' }>, 'titleOf'> {
  return past === undefined ? {} : { titleOf: past.titleOf };
}

/** What a sub-agent has heard and said; as long as it is open, it grows with it. */
export async function showSubAgent(id: string, host: EffectHost): Promise<void> {
  const read = async (): Promise<GrowingPage> => {
    const messages = (await host.conversation.subAgentMessages?.(id)) ?? [];
    return { kind: 'transcript', messages, of: id, ...titlesOf(host) };
  };
  return openGrowing(`Sub-agent ${id}`, await read(), read, host);
}

/** What a command says that says more while it is read. */
export function showLive(title: string, line: string, markdown: string, host: EffectHost): Promise<void> {
  const read = async (): Promise<GrowingPage | undefined> => {
    const outcome = await host.conversation.runCommand(line);
    return outcome.kind === 'show' ? { kind: 'text', markdown: outcome.markdown, of: line } : undefined;
  };
  return openGrowing(title, { kind: 'text', markdown, of: line }, read, host);
}

type GrowingPage = Extract<ViewerPage, { kind: 'transcript' | 'text' }>;

const READ_ON_MS = 1000;

async function openGrowing(
  title: string,
  page: GrowingPage,
  read: () => Promise<GrowingPage | undefined>,
  host: EffectHost,
): Promise<void> {
  await open(title, page, host);
  void readOn(page.of, read, host).catch(() => undefined); // What was shown stays.
}

async function readOn(of: string | undefined, read: () => Promise<GrowingPage | undefined>, host: EffectHost) {
  const { output, change, now } = host;
  while (openOf(now().overlay, of) !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, READ_ON_MS).unref());
    const page = await read();
    const shown = openOf(now().overlay, of);
    if (page === undefined || shown === undefined || isSame(shown.page, page)) continue;
    change((view) => {
      const { overlay } = view;
      const viewer = openOf(overlay, of);
      if (overlay?.kind !== 'viewer' || viewer === undefined) return view;
      const rows = output.layOut(page, viewer.shown);
      return { ...view, overlay: { ...overlay, viewer: withMore(viewer, page, rows, output.height()) } };
    });
  }
}

/** The page of that name, if it is the one that is open. */
function openOf(overlay: Overlay | undefined, of: string | undefined): Viewer | undefined {
  if (overlay?.kind !== 'viewer' || of === undefined) return undefined;
  const { page } = overlay.viewer;
  return 'of' in page && page.of === of ? overlay.viewer : undefined;
}

/** Messages only join; of words each may be another. */
function isSame(before: ViewerPage, page: GrowingPage): boolean {
  if (page.kind === 'text') return before.kind === 'text' && before.markdown === page.markdown;
  return before.kind === 'transcript' && before.messages.length === page.messages.length;
}

/** All of what is asked about; a change part by part, where its parts can be told from one another. */
export async function openRequest(request: PermissionRequest, host: EffectHost): Promise<void> {
  const { id, facts, toolName } = request;
  const proposal = facts.kind === 'edit' ? await host.conversation.proposal?.(facts) : undefined;
  if (proposal !== undefined && proposal.hunks.length > 0)
    return open(
      shortPath(proposal.path, host.conversation.info().cwd),
      reviewPage(proposal.hunks, { type: 'answer', requestId: id }),
      host,
    );
  return open(facts.writes?.[0] ?? toolName, { kind: 'request', request }, host);
}

/** How a session ended; the list is there again when the page is closed. */
export async function openPreview(id: string, host: EffectHost): Promise<void> {
  const markdown = await host.conversation.storedSessions?.preview(id);
  await open('Session', { kind: 'text', markdown: markdown ?? 'This session is gone.' }, host);
}

/** Words on a screen of their own; the panel they were asked for from is there again when they are closed. */
export function openText(title: string, markdown: string, host: EffectHost): Promise<void> {
  return open(title, { kind: 'text', markdown }, host);
}

/** A change of this session, part by part. */
export function openReview(review: Review, host: EffectHost): Promise<void> {
  return open(review.title, reviewPage(review.hunks, { type: 'take_back', review }), host);
}

/** The same page with what stands there now, and a word about what was done. */
export function relayReview(review: Review | undefined, note: string, { output, change }: EffectHost): void {
  change((view) => {
    const { overlay } = view;
    if (overlay?.kind !== 'viewer' || overlay.viewer.page.kind !== 'review') return view;
    const { viewer } = overlay;
    const { page } = overlay.viewer;
    if (review === undefined) return { ...view, overlay: { ...overlay, viewer: { ...viewer, note } } };
    const fresh = moveReview(reviewPage(review.hunks, { type: 'take_back', review }), page.at);
    const rows = output.layOut(fresh, viewer.shown);
    return { ...view, overlay: { ...overlay, viewer: { ...withReview(viewer, fresh, rows, output.height()), note } } };
  });
}

/** What was pasted, as it will be sent. */
export function openPaste(text: string, host: EffectHost): Promise<void> {
  return open('Paste', { kind: 'text', markdown: fenced(text) }, host);
}

/** Leaves a page as a file beside the work, under a name that is free. */
export async function writePage(text: string, { conversation, change, now }: EffectHost): Promise<void> {
  const { cwd, sessionId } = conversation.info();
  const path = join(cwd, `ouro-transcript-${sessionId.slice(0, 8)}-${now().keys.lastKeyAtMs}.txt`);
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
  change((view) => printing(view, { kind: 'notice', level: 'info', text: `The transcript is in ${path}.` }));
}

async function open(
  title: string,
  page: ViewerPage,
  { output, change }: EffectHost,
  shown: Shown = FOLDED,
): Promise<void> {
  if (!output.hasColors() && pageHoldsCode(page)) await output.loadColors().catch(() => undefined); // Plain will do.
  const rows = output.layOut(page, shown);
  const viewer = openViewer(title, page, rows, output.height(), shown);
  change((view) => {
    const { overlay } = view;
    const back = overlay?.kind === 'sessions' || overlay?.kind === 'panel' ? { back: overlay } : {};
    return { ...view, overlay: { kind: 'viewer', viewer, ...back } };
  });
}

function pageHoldsCode(page: ViewerPage): boolean {
  if (page.kind === 'request' || page.kind === 'review') return false;
  if (page.kind === 'text') return textHoldsCode(page.markdown);
  return page.messages.some(
    ({ role, ...message }) =>
      role === 'assistant' &&
      'blocks' in message &&
      message.blocks.some((block) => block.type === 'text' && textHoldsCode(block.text)),
  );
}
