import { renderToString } from 'ink';
import { createElement } from 'react';
import type { Drawing } from '../text/drawing.ts';
import type { Paint } from '../theme/paint.ts';
import type { PanelView } from '../view/panel-view.ts';
import { Panel } from './Panel.tsx';

/** An open panel as painted rows, at most so many. */
export function panelPicture(view: PanelView, drawing: Drawing, paint: Paint, rows: number): readonly string[] {
  if (rows <= 0) return [];
  const text = renderToString(createElement(Panel, { view, drawing, paint, rows }), { columns: drawing.width });
  return text.split('\n').slice(0, rows);
}
