import type { Settings } from '../settings.ts';

/** The settings that frontends use. */
export type FrontendSettings = Pick<
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

/** Settings that the screen saves for the next start. */
export type SavedScreenSettingName = 'theme' | 'editorMode';

/** A theme file of the user or of a plugin. */
export type ThemeFile = { readonly name: string; readonly path: string; readonly text: string };

/** The theme files in the folder `themes/` beside the user settings, and those of plugins. */
export type ThemesPort = {
  read(): Promise<readonly ThemeFile[]>;
  /** Watches the files. Returns a function that stops watching. */
  watch(onChange: () => void): () => void;
};
