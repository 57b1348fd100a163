import type { CommandInfo } from '../../contracts/frontend/command.ts';
import type { SessionListScope } from '../../contracts/frontend/conversation.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { UserAnswer } from '../../contracts/tool.ts';
import type { PickerPurpose } from '../app-state/overlay.ts';
import type { ViewState } from '../app-state/view-state.ts';
import type { HistoryScope } from '../widgets/composer/draft-editor-state.ts';
import type { DraftPart } from '../widgets/composer/paste-placeholders.ts';
import type { ReviewPage } from '../widgets/viewer/review.ts';
import type { ViewerContext } from '../widgets/viewer/viewer-keys.ts';
import type { Keymap } from './keymap.ts';

/** An effect that a key requests, as data. `runEffect` carries it out. */
export type UiEffect = AgentEffect | ScreenEffect;

/** An effect on the conversation. */
type AgentEffect =
  | { readonly type: 'prompt' | 'steer' | 'follow_up'; readonly parts: readonly DraftPart[] }
  /** Replaces the last prompt, which failed, came back into the composer and was changed there. */
  | { readonly type: 'prompt_instead'; readonly parts: readonly DraftPart[] }
  | { readonly type: 'abort' | 'kill_stopping' | 'retry_now' | 'wait_for_limit' | 'background' }
  /** Continues from the last message. The text is sent if that message is from the model. */
  | { readonly type: 'continue'; readonly text: string }
  | { readonly type: 'answer_permission'; readonly id: string; readonly answer: PermissionAnswer }
  | { readonly type: 'answer_question'; readonly id: string; readonly answer: UserAnswer | undefined }
  /** Answers an edit that was reviewed hunk by hunk. */
  | { readonly type: 'answer_parts'; readonly page: ReviewPage }
  | { readonly type: 'edit_proposal'; readonly request: PermissionRequest }
  | { readonly type: 'unqueue'; readonly id: string }
  | { readonly type: 'command'; readonly line: string }
  | { readonly type: 'shell'; readonly command: string }
  | { readonly type: 'mode'; readonly mode: string }
  | { readonly type: 'drop_context' }
  | { readonly type: 'remember'; readonly text: string };

/** The effects on the screen or on what surrounds it. */
export type ScreenEffect =
  | { readonly type: 'copy' | 'write_page' | 'view_paste'; readonly text: string }
  /** Shows the whole question where it does not fit. */
  | { readonly type: 'view_question'; readonly markdown: string }
  /** Reverts a hunk with the command `line`; the page then shows the output of the command `viewCommand`. */
  | { readonly type: 'take_back'; readonly line: string; readonly viewCommand: string }
  | { readonly type: 'watch'; readonly agentId: string }
  | { readonly type: 'view_request'; readonly request: PermissionRequest }
  | { readonly type: 'find_files'; readonly query: string }
  | { readonly type: 'find_arguments'; readonly line: string }
  | { readonly type: 'picked'; readonly purpose: PickerPurpose; readonly id: string }
  | { readonly type: 'list_sessions'; readonly scope: SessionListScope }
  | { readonly type: 'search_sessions'; readonly text: string; readonly scope: SessionListScope }
  | { readonly type: 'session'; readonly action: 'open' | 'fork' | 'preview' | 'remove'; readonly id: string }
  | { readonly type: 'rename_session'; readonly id: string; readonly title: string }
  /** Previews a theme; without a name, restores the chosen one. */
  | { readonly type: 'try_theme'; readonly name: string | undefined }
  /** Loads earlier messages for the history search. */
  | { readonly type: 'recall'; readonly scope: HistoryScope }
  /** Runs a command whose result is shown in the open panel. */
  | { readonly type: 'panel'; readonly line: string }
  | { readonly type: 'leave' | 'suspend' | 'external_editor' | 'paste_image' | 'transcript' | 'repaint' };

/** The result of an input event: the new view, and the effects to run. */
export type InputResult = { readonly view: ViewState; readonly effects: readonly UiEffect[] };

/** Creates a result that only changes the view. */
export function withoutEffects(view: ViewState): InputResult {
  return { view, effects: [] };
}

/** Creates a result with effects. */
export function withEffects(view: ViewState, ...effects: readonly UiEffect[]): InputResult {
  return { view, effects };
}

/** The context of a key press besides the view. */
export type InputContext = {
  readonly nowMs: number;
  /** Slash commands for the menu. */
  readonly commands: readonly CommandInfo[];
  /** Time without key presses before a dialog accepts keys. */
  readonly quietMs: number;
  readonly viewer: ViewerContext;
  /** Returns how much of the open question is visible. */
  readonly getQuestionVisibility?: (view: ViewState) => 'all' | 'call' | 'part';
  /** Key bindings of the user. */
  readonly keymap?: Keymap;
};
