import type { InputEvent } from '../keys/input-event.ts';
import type { ViewState } from '../view/view-state.ts';
import type { Viewer } from '../view/viewer-state.ts';
import { pressViewer } from '../viewer/press-viewer.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import type { PressContext } from './press-context.ts';

/** A key while a page fills the screen: nothing below it hears any. */
export function lookOn(
  view: ViewState,
  viewer: Viewer,
  input: Extract<InputEvent, { type: 'key' }>,
  context: PressContext,
): Pressed {
  const back = view.overlay?.kind === 'viewer' ? view.overlay.back : undefined;
  const open = (viewed: Viewer): ViewState => {
    const kept = back === undefined ? {} : { back };
    return { ...view, overlay: { kind: 'viewer', viewer: viewed, ...kept } };
  };
  const pressed = pressViewer(viewer, input, context.viewer);
  switch (pressed.type) {
    case 'stay':
      return only(open(pressed.viewer));
    case 'close':
      return only({ ...view, overlay: back });
    case 'answer': {
      const answer = pressed.verdict === 'allow' ? ({ behavior: 'allow' } as const) : ({ behavior: 'deny' } as const);
      return withEffects({ ...view, overlay: undefined }, { type: 'answer_permission', id: pressed.requestId, answer });
    }
    default: {
      const note = pressed.type === 'copy' ? 'copied' : 'written';
      const effect = pressed.type === 'copy' ? 'copy' : 'write_page';
      return withEffects(open({ ...pressed.viewer, note }), { type: effect, text: pressed.text });
    }
  }
}
