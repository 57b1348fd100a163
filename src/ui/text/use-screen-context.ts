import { createContext, useContext } from 'react';
import type { Paint } from '../theme/paint.ts';
import type { RenderContext } from './render-context.ts';

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
