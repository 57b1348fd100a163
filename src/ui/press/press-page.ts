import type { InputEvent } from '../keys/input-event.ts';
import type { ViewState } from '../view/view-state.ts';
import { pressViewer } from '../viewer/press-viewer.ts';
import type { Viewer } from '../viewer/viewer-state.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import type { PressContext } from './press-context.ts';

/** A key while a page fills the screen: nothing below it hears any. */
export function lookOn(
  view: ViewState,
  viewer: Viewer,
  input: Extract<InputEvent, { type: 'key' }>,
  context: PressContext,
): Pressed {
  const pressed = pressViewer(viewer, input, context.viewer);
  switch (pressed.type) {
    case 'stay':
      return only({ ...view, overlay: { kind: 'viewer', viewer: pressed.viewer } });
    case 'close':
      return only({ ...view, overlay: undefined });
    case 'answer': {
      const answer = pressed.verdict === 'allow' ? ({ behavior: 'allow' } as const) : ({ behavior: 'deny' } as const);
      return withEffects({ ...view, overlay: undefined }, { type: 'answer_permission', id: pressed.requestId, answer });
    }
    default: {
      const note = pressed.type === 'copy' ? 'copied' : 'written';
      const overlay = { kind: 'viewer', viewer: { ...pressed.viewer, note } } as const;
      return withEffects(
        { ...view, overlay },
        { type: pressed.type === 'copy' ? 'copy' : 'write_page', text: pressed.text },
      );
    }
  }
}
