import type { SettingsSource } from '../settings.ts';

/** One effect that trusting a folder would have. The text is unsanitized; frontends sanitize it. */
export type TrustEffect = {
  readonly kind: 'hook' | 'rule' | 'variable' | 'server' | 'command' | 'folder' | 'mode' | 'instructions';
  readonly text: string;
  /** Short form for a list of all effects of this kind. */
  readonly label?: string;
  readonly file: string;
  readonly line?: number;
};

/** The question whether to trust a folder. */
export type TrustQuestion = {
  readonly dir: string;
  /**
   * `changed`: the folder was trusted before, and its effects have changed since. `changed-meanwhile`: its effects
   * changed while the question was shown, so that answer is void.
   */
  readonly state: 'new' | 'changed' | 'changed-meanwhile';
  readonly effects: readonly TrustEffect[];
  /** Fingerprints of the effects that are shown; a yes approves these. */
  readonly marks: TrustFingerprints;
  /** Reason why the folder can never be trusted: it is a home folder or the root of the disk. */
  readonly refusal?: string;
};

/**
 * A part of a project that is approved separately: its two settings files, the rules of its commands, the files that
 * its instructions import from outside, and the settings of its parent folders.
 */
export type ApprovedProjectPart = Extract<SettingsSource, 'project' | 'local'> | 'commands' | 'instructions' | 'above';

/** Fingerprints of the parts of a folder that were shown or approved. */
export type TrustFingerprints = { readonly [source in ApprovedProjectPart]?: string };
