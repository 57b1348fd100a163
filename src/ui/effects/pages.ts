import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { textHoldsCode } from '../view/holds-code.ts';
import { printing } from '../view/view-state.ts';
import { openViewer, type ViewerPage } from '../view/viewer-state.ts';
import type { EffectHost } from './effect-host.ts';

/** Everything that was said, on a screen of its own. */
export function showTranscript(host: EffectHost): Promise<void> {
  return open('Transcript', { kind: 'transcript', messages: host.messages() }, host);
}

/** All of what is asked about. */
export function openRequest(request: PermissionRequest, host: EffectHost): Promise<void> {
  return open(request.facts.writes?.[0] ?? request.toolName, { kind: 'request', request }, host);
}

/** How a session ended; the list is there again when the page is closed. */
export async function openPreview(id: string, host: EffectHost): Promise<void> {
  const markdown = await host.conversation.storedSessions?.preview(id);
  await open('Session', { kind: 'text', markdown: markdown ?? 'This session is gone.' }, host);
}

/** What was pasted, as it will be sent. */
export function openPaste(text: string, host: EffectHost): Promise<void> {
  let fence = '```';
  for (const [, ticks = ''] of text.matchAll(/^ *(`{3,})/gm)) if (ticks.length >= fence.length) fence = `${ticks}\``;
  return open('Paste', { kind: 'text', markdown: `${fence}\n${text}\n${fence}` }, host);
}

/** Leaves a page as a file beside the work, under a name that is free. */
export async function writePage(text: string, { conversation, change, now }: EffectHost): Promise<void> {
  const { cwd, sessionId } = conversation.info();
  const path = join(cwd, `ouro-transcript-${sessionId.slice(0, 8)}-${now().keys.lastKeyAtMs}.txt`);
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
  change((view) => printing(view, { kind: 'notice', level: 'info', text: `The transcript is in ${path}.` }));
}

async function open(title: string, page: ViewerPage, { output, change }: EffectHost): Promise<void> {
  if (!output.hasColors() && pageHoldsCode(page)) await output.loadColors().catch(() => undefined); // Plain will do.
  const rows = output.layOut(page, { thinking: 'hidden', bodies: 'folded' });
  const viewer = openViewer(title, page, rows, output.height());
  change((view) => {
    const back = view.overlay?.kind === 'sessions' ? { back: view.overlay } : {};
    return { ...view, overlay: { kind: 'viewer', viewer, ...back } };
  });
}

function pageHoldsCode(page: ViewerPage): boolean {
  if (page.kind === 'request') return false;
  if (page.kind === 'text') return textHoldsCode(page.markdown);
  return page.messages.some(
    ({ role, ...message }) =>
      role === 'assistant' &&
      'blocks' in message &&
      message.blocks.some((block) => block.type === 'text' && textHoldsCode(block.text)),
  );
}
