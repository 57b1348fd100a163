import type { AgentEvent } from '../contracts/event.ts';
import type { PermissionAnswer, PermissionRequest, ToolFacts } from '../contracts/permission.ts';
import { computeShortHash } from '../lib/text/short-hash.ts';
import type { EditReview } from '../tools/edit/file-line-edits.ts';
import type { EditorLink } from './editor-link.ts';

/** The dependencies of the reviews of edits in the editor. */
export type EditReviewDeps = {
  readonly link: Pick<EditorLink, 'hasTool' | 'callTool'>;
  /** Computes the files as the edit would leave them; `undefined` if the edit does not apply. */
  readonly reviewEdit: (facts: ToolFacts) => Promise<EditReview | undefined>;
  /** Answers a permission request; it has no effect when the request was already answered. */
  readonly answer: (requestId: string, answer: PermissionAnswer) => void;
  /** Formats a path for the title of the diff. */
  readonly formatPath: (path: string) => string;
};

type WaitingEdit = { readonly request: PermissionRequest; readonly controller: AbortController };

const CLOSE_TIMEOUT_MS = 5_000;
/** More diffs at once would bury the editor. */
const MAX_FILES = 10;

/**
 * Shows the diff of each edit waiting for approval in the editor. The first answer counts, there or on the screen, and
 * closes the other.
 */
export function createEditReviews({ link, reviewEdit, answer, formatPath }: EditReviewDeps) {
  const waiting = new Map<string, WaitingEdit>();

  function show(request: PermissionRequest): void {
    const controller = new AbortController();
    waiting.set(request.id, { request, controller });
    // Without the editor, the question on the screen stays.
    if (link.hasTool('openDiff')) void openDiffs(request, controller.signal).catch(() => undefined);
  }

  /** All files must be accepted; the first that is refused refuses the edit. */
  async function openDiffs({ id, facts }: PermissionRequest, signal: AbortSignal): Promise<void> {
    const review = await reviewEdit(facts);
    if (review === undefined || review.files.length > MAX_FILES || signal.aborted) return;
    const saved = await Promise.all(
      review.files.map(async ({ path, text }) => {
        const input = {
          old_file_path: path,
          new_file_path: path,
          new_file_contents: text,
          tab_name: nameTab(id, path),
        };
        const [verdict, savedText = text] = await link.callTool('openDiff', input, signal);
        if (verdict === 'DIFF_REJECTED' && !signal.aborted) answer(id, DENIAL);
        if (verdict !== 'FILE_SAVED') throw new Error('The editor has not accepted the diff.');
        return savedText;
      }),
    );
    if (!signal.aborted) answer(id, toAnswer(saved, review));
  }

  function close(requestId: string): void {
    const edit = waiting.get(requestId);
    if (edit === undefined) return;
    waiting.delete(requestId);
    edit.controller.abort();
    const timeout = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
    // claudecode.nvim has the tool without listing it. The editor may have closed the tab itself, or be gone.
    for (const path of edit.request.facts.writes ?? [])
      void link.callTool('close_tab', { tab_name: nameTab(requestId, path) }, timeout).catch(() => undefined);
  }

  /** Names the diff of a file. claudecode.nvim closes only diffs whose names have these two marks. */
  function nameTab(requestId: string, path: string): string {
    return `✻ [ouro] ${formatPath(path)} (${computeShortHash(requestId, 4)}) ⧉`;
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

const DENIAL: PermissionAnswer = { behavior: 'deny', note: 'They looked at its diff in their editor.' };
const EMPTY_DENIAL: PermissionAnswer = {
  behavior: 'deny',
  note: 'They looked at this edit in their editor and took back everything that it would have changed.',
};

/** Returns the answer for accepted diffs, some of which the user may have changed. */
function toAnswer(saved: readonly string[], review: EditReview): PermissionAnswer {
  if (review.files.every(({ text }, index) => saved[index] === text)) return { behavior: 'allow' };
  const updatedInput = review.createInput(saved);
  return updatedInput === undefined ? EMPTY_DENIAL : { behavior: 'allow', updatedInput };
}
