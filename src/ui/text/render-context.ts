import { createContext, useContext } from 'react';
import type { Glyphs } from '../theme/glyphs.ts';
import type { Paint } from '../theme/paint.ts';
import type { HighlightCode } from './line.ts';

/** The properties of the terminal and the moment that everything drawn depends on. */
export type RenderContext = {
  readonly width: number;
  readonly rows: number;
  readonly glyphs: Glyphs;
  readonly nowMs: number;
  /** Current frame of the spinner. */
  readonly spinner: string;
  readonly cwd: string;
  readonly links: 'clickable' | 'printed';
  /** Markup characters such as backticks are shown where no color can replace them. */
  readonly markup: 'hidden' | 'shown';
  readonly highlight: HighlightCode | undefined;
  /** The time of day is shown after messages. */
  readonly timestamps?: 'shown' | 'off';
};

/** Returns a path relative to the working directory if it lies below it. */
export function shortenPath(path: string, cwd: string): string {
  return path.startsWith(cwd) && /[\\/]/.test(path[cwd.length] ?? '') ? path.slice(cwd.length + 1) : path;
}

/** Makes every path below the working directory in a title relative, and removes a final ` in <cwd>`. */
export function shortenTitlePaths(title: string, cwd: string): string {
  if (cwd.length < 2) return title;
  const suffix = ` in ${cwd}`;
  return (title.endsWith(suffix) ? title.slice(0, -suffix.length) : title)
    .replaceAll(`${cwd}/`, '')
    .replaceAll(`${cwd}\\`, '');
}

/** The rendering context and the paint function that all components draw with. */
export type ScreenContextValue = { readonly context: RenderContext; readonly paint: Paint };

/** The React context that provides them to the components of a screen. */
export const ScreenContext = createContext<ScreenContextValue | undefined>(undefined);

/** Returns the rendering context and the paint function of the surrounding screen. */
export function useScreenContext(): ScreenContextValue {
  const value = useContext(ScreenContext);
  if (value === undefined) throw new Error('A screen component was rendered without a screen context.');
  return value;
}
