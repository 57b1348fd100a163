import type { SettingsSource } from '../permission.ts';

/** Questions that the user has to answer before the first prompt. */
export type FirstRunQuestions = {
  readonly version: string;
  readonly folder: string;
  readonly trust: TrustQuestion | undefined;
  /** Parent folder, if it may be trusted as a whole. */
  readonly parent: string | undefined;
  readonly key: 'found' | 'missing';
  /** Without an Anthropic key: other providers that have a key. */
  readonly providers: readonly KeyedProvider[];
  /** Files of another assistant that can be imported, until the user has answered. */
  readonly offer: ImportOffer | undefined;
  /** `unconfirmed`: the run would bypass permissions, and the user has never agreed to that on this machine. */
  readonly bypass: 'unconfirmed' | 'settled';
};

/** Files that can be imported from another assistant. They are read only after a yes. */
export type ImportOffer = { readonly from: string; readonly to: string; readonly holds: readonly string[] };

/** A provider with a key: the source of the key, and the model to start with. */
export type KeyedProvider = { readonly label: string; readonly source: string; readonly model: string };

/** A local model server, with model names that `--model` accepts. */
export type LocalModelServer = { readonly name: string; readonly models: readonly string[] };

/** The model that the user chooses at the first run. */
export type FirstModelChoice =
  | { readonly kind: 'as_found' | 'demo' }
  | { readonly kind: 'named'; readonly model: string }
  | { readonly kind: 'key'; readonly key: string };

/** The user's answers to the first-run questions. */
export type FirstRunAnswers = {
  readonly trust: 'no' | 'folder' | 'below';
  readonly model: FirstModelChoice;
  /** Answer about the import. `open`: not answered, so it is asked again. */
  readonly takeOver: 'yes' | 'no' | 'open';
  /** Answer about bypassing permissions. `open`: not answered, so this run does not bypass them. */
  readonly bypass: 'yes' | 'no' | 'open';
  /** Text that was typed before the questions were shown. */
  readonly typed: string;
};

/** The user quit before the last question; an answer about trust counts all the same. */
export type FirstRunExit = { readonly exits: true; readonly trust: FirstRunAnswers['trust'] };

/** One effect that trusting a folder would have. The text is unsanitized; frontends sanitize it. */
export type TrustEffect = {
  readonly kind:
    | 'hook'
    | 'rule'
    | 'variable'
    | 'server'
    | 'command'
    | 'program'
    | 'offer'
    | 'folder'
    | 'mode'
    | 'instructions';
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
 * its instructions import from outside, the settings of its parent folders, and its programs that ouro starts.
 */
export type ApprovedProjectPart =
  | Extract<SettingsSource, 'project' | 'local'>
  | 'commands'
  | 'instructions'
  | 'above'
  | 'programs';

/** Fingerprints of the parts of a folder that were shown or approved. */
export type TrustFingerprints = { readonly [source in ApprovedProjectPart]?: string };
