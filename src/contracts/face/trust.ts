import type { SettingsSource } from '../settings.ts';

/** One thing a folder would bring about if it were trusted, as a sentence part. Text is as given; faces clean it. */
export type TrustEffect = {
  readonly kind: 'hook' | 'rule' | 'variable' | 'server' | 'command' | 'folder' | 'mode' | 'instructions';
  readonly text: string;
  readonly file: string;
  readonly line?: number;
};

/** What a person is asked before anything of a folder counts. */
export type TrustQuestion = {
  readonly dir: string;
  /**
   * `changed`: it was trusted before, and what it would bring about is another thing now. `changed while asked`: it is
   * another thing than was shown, so the yes to that is none.
   */
  readonly state: 'new' | 'changed' | 'changed while asked';
  readonly effects: readonly TrustEffect[];
  /** What a yes approves: fingerprints of what is shown. */
  readonly marks: TrustMarks;
  /** Never trusted as a whole: a home folder, the root of the disk. */
  readonly refusal?: string;
};

/**
 * What of a project was approved: its two files of settings, what its commands may run unasked, what its instructions
 * read outside, and the settings of the folders around it.
 */
export type ApprovedSource = Extract<SettingsSource, 'project' | 'local'> | 'commands' | 'instructions' | 'above';

/** Fingerprints of what was shown, or approved, of a folder. */
export type TrustMarks = { readonly [source in ApprovedSource]?: string };
