import type { SessionScope } from '../../contracts/face/stored-sessions.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { UserAnswer } from '../../contracts/tool.ts';
import type { HistoryScope } from '../composer/editor-state.ts';
import type { DraftPart } from '../composer/folds.ts';
import type { PickerPurpose } from '../view/overlay.ts';
import type { ReviewPage } from '../view/review-page.ts';
import type { ViewState } from '../view/view-state.ts';

/** What a key asks the program to do: data, carried out by `runEffect`. */
export type Effect = AgentEffect | ScreenEffect;

/** What goes to the conversation. */
type AgentEffect =
  | { readonly type: 'prompt' | 'steer' | 'follow_up'; readonly parts: readonly DraftPart[] }
  /** Words that were refused, came back into the composer and were changed there: these stand in their place. */
  | { readonly type: 'prompt_instead'; readonly parts: readonly DraftPart[] }
  | { readonly type: 'abort' | 'kill_stopping' | 'retry_now' | 'wait_for_limit' | 'background' }
  /** Runs on from the last message; the words are what is said where the model had the last word. */
  | { readonly type: 'continue'; readonly words: string }
  | { readonly type: 'answer_permission'; readonly id: string; readonly answer: PermissionAnswer }
  | { readonly type: 'answer_question'; readonly id: string; readonly answer: UserAnswer | undefined }
  /** An edit that was looked through part by part. */
  | { readonly type: 'answer_parts'; readonly page: ReviewPage }
  | { readonly type: 'edit_proposal'; readonly request: PermissionRequest }
  | { readonly type: 'unqueue'; readonly id: string }
  | { readonly type: 'command'; readonly line: string }
  | { readonly type: 'shell'; readonly command: string }
  | { readonly type: 'mode'; readonly mode: string }
  | { readonly type: 'remember'; readonly words: string };

/** What the screen does itself. */
export type ScreenEffect =
  | { readonly type: 'copy' | 'write_page' | 'view_paste'; readonly text: string }
  /** All of what is asked, where it does not fit. */
  | { readonly type: 'view_question'; readonly markdown: string }
  /** A command that takes a part of a change back; the page shows what is left of it. */
  | { readonly type: 'take_back'; readonly line: string; readonly shows: string }
  | { readonly type: 'watch'; readonly agentId: string }
  | { readonly type: 'view_request'; readonly request: PermissionRequest }
  | { readonly type: 'find_files'; readonly query: string }
  | { readonly type: 'find_arguments'; readonly line: string }
  | { readonly type: 'picked'; readonly purpose: PickerPurpose; readonly id: string }
  | { readonly type: 'list_sessions'; readonly scope: SessionScope }
  | { readonly type: 'search_sessions'; readonly words: string; readonly scope: SessionScope }
  | { readonly type: 'session'; readonly does: 'open' | 'fork' | 'preview' | 'remove'; readonly id: string }
  | { readonly type: 'rename_session'; readonly id: string; readonly title: string }
  /** Shows how a theme looks; without a name, the chosen one comes back. */
  | { readonly type: 'try_theme'; readonly name: string | undefined }
  /** Messages sent before, to be searched. */
  | { readonly type: 'recall'; readonly scope: HistoryScope }
  /** A command whose answer stands in the open panel. */
  | { readonly type: 'panel'; readonly line: string }
  | { readonly type: 'leave' | 'suspend' | 'external_editor' | 'paste_image' | 'transcript' | 'repaint' };

/** The screen after a key, and what is to be done. */
export type Pressed = { readonly view: ViewState; readonly effects: readonly Effect[] };

/** A change of the screen and nothing else. */
export function only(view: ViewState): Pressed {
  return { view, effects: [] };
}

export function withEffects(view: ViewState, ...effects: readonly Effect[]): Pressed {
  return { view, effects };
}
