import type { AgentEvent } from '../contracts/event.ts';
import type { EditProposal } from '../contracts/frontend/conversation.ts';
import type { PermissionAnswer, PermissionRequest, ToolFacts } from '../contracts/permission.ts';
import { computeShortHash } from '../lib/text/short-hash.ts';
import type { EditorLink } from './editor-link.ts';

/** The dependencies of the reviews of edits in the editor. */
export type EditReviewDeps = {
  readonly link: Pick<EditorLink, 'hasTool' | 'callTool'>;
  /** Computes the file as the edit would leave it; `undefined` if the edit does not apply. */
  readonly proposeEdit: (facts: ToolFacts) => Promise<EditProposal | undefined>;
  /** Answers a permission request; it has no effect when the request was already answered. */
  readonly answer: (requestId: string, answer: PermissionAnswer) => void;
  /** Formats a path for the title of the diff. */
  readonly formatPath: (path: string) => string;
};

type WaitingEdit = { readonly request: PermissionRequest; readonly controller: AbortController };

const CLOSE_TIMEOUT_MS = 5_000;

/**
 * Shows the diff of each edit waiting for approval in the editor. The first answer counts, there or on the screen, and
 * closes the other.
 */
export function createEditReviews({ link, proposeEdit, answer, formatPath }: EditReviewDeps) {
  const waiting = new Map<string, WaitingEdit>();

  function show(request: PermissionRequest): void {
    const controller = new AbortController();
    waiting.set(request.id, { request, controller });
    // Without the editor, the question on the screen stays.
    if (link.hasTool('openDiff')) void openDiff(request, controller.signal).catch(() => undefined);
  }

  async function openDiff(request: PermissionRequest, signal: AbortSignal): Promise<void> {
    const proposal = await proposeEdit(request.facts);
    if (proposal === undefined || signal.aborted) return;
    const { path, text } = proposal;
    const input = {
      old_file_path: path,
      new_file_path: path,
      new_file_contents: text,
      tab_name: nameTab(request),
    };
    const texts = await link.callTool('openDiff', input, signal);
    const reply = signal.aborted ? undefined : toAnswer(texts, proposal);
    if (reply !== undefined) answer(request.id, reply);
  }

  function close(requestId: string): void {
    const edit = waiting.get(requestId);
    if (edit === undefined) return;
    waiting.delete(requestId);
    edit.controller.abort();
    const timeout = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
    // claudecode.nvim has the tool without listing it. The editor may have closed the tab itself, or be gone.
    void link.callTool('close_tab', { tab_name: nameTab(edit.request) }, timeout).catch(() => undefined);
  }

  /** Names the diff of a request. claudecode.nvim closes only diffs whose names have these two marks. */
  function nameTab({ id, facts }: PermissionRequest): string {
    return `✻ [ouro] ${formatPath(String(facts.writes?.[0] ?? 'edit'))} (${computeShortHash(id, 4)}) ⧉`;
  }

  return {
    onEvent(event: AgentEvent): void {
      if (event.type === 'permission_answer') close(event.requestId);
      if (event.type === 'permission_request' && canReview(event.request)) show(event.request);
    },
    /** Shows the waiting edits in an editor that has just been connected. */
    onConnected(): void {
      for (const { request, controller } of [...waiting.values()]) {
        controller.abort();
        show(request);
      }
    },
  };
}

/** A diff does not show why a circuit breaker asks, or hidden characters, so those are answered on the screen. */
function canReview({ facts, danger, concealed }: PermissionRequest): boolean {
  return facts.kind === 'edit' && danger === 'none' && concealed === 'none';
}

/** Returns the answer for the result of a diff; `undefined` when the user decided nothing in the editor. */
function toAnswer([verdict, saved]: readonly string[], proposal: EditProposal): PermissionAnswer | undefined {
  if (verdict === 'DIFF_REJECTED') return { behavior: 'deny', note: 'They looked at its diff in their editor.' };
  if (verdict !== 'FILE_SAVED') return undefined;
  if (saved === undefined || saved === proposal.text) return { behavior: 'allow' };
  const updatedInput = proposal.createInput(saved);
  const note = 'They looked at this edit in their editor and took back everything that it would have changed.';
  return updatedInput === undefined ? { behavior: 'deny', note } : { behavior: 'allow', updatedInput };
}
