import type { Settings } from '../settings.ts';

/** The settings that concern nobody but the face in front of a person. */
export type FaceSettings = Pick<
  Settings,
  | 'theme'
  | 'editorMode'
  | 'keybindings'
  | 'notify'
  | 'title'
  | 'progress'
  | 'ambiguous'
  | 'banner'
  | 'reducedMotion'
  | 'ascii'
  | 'accessible'
  | 'wrap'
  | 'timestamps'
  | 'dialogDelayMs'
>;

/** Choices made on the screen that hold for the next start too. */
export type KeptChoice = 'theme' | 'editorMode';

/** A theme of a person's own, as it stands in its file. */
export type ThemeFile = { readonly name: string; readonly path: string; readonly text: string };

/** The themes in `themes/` beside the person's settings. */
export type ThemesPort = {
  read(): Promise<readonly ThemeFile[]>;
  /** Tells that one of them may have changed, until what it answers with is called. */
  watch(changed: () => void): () => void;
};
