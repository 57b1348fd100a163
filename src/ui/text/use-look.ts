import { createContext, useContext } from 'react';
import type { Paint } from '../theme/paint.ts';
import type { Drawing } from './drawing.ts';

/** What every component draws with: the size and the moment, and the colours of the theme. */
export type Look = { readonly drawing: Drawing; readonly paint: Paint };

export const LookContext = createContext<Look | undefined>(undefined);

/** The look of the screen a component is drawn on. */
export function useLook(): Look {
  const look = useContext(LookContext);
  if (look === undefined) throw new Error('A component of the screen was drawn outside of one.');
  return look;
}
