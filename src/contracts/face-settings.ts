import type { Settings } from './settings.ts';

/** The settings that concern nobody but the face in front of a person. */
export type FaceSettings = Pick<
  Settings,
  | 'theme'
  | 'editorMode'
  | 'keybindings'
  | 'notify'
  | 'title'
  | 'banner'
  | 'reducedMotion'
  | 'ascii'
  | 'accessible'
  | 'wrap'
  | 'dialogDelayMs'
>;

/** Choices made on the screen that hold for the next start too. */
export type KeptChoice = 'theme' | 'editorMode';
