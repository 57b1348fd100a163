import type { TrustQuestion } from './trust.ts';

/** What has to be settled between a person and this machine before the first question. */
export type FirstRunQuestion = {
  readonly version: string;
  readonly folder: string;
  readonly trust: TrustQuestion | undefined;
  /** The folder above, where it may be trusted as a whole. */
  readonly parent: string | undefined;
  readonly key: 'found' | 'missing';
  /** Where no key of Anthropic's is: other places that have one. */
  readonly places: readonly KeyedPlace[];
  /** What another assistant keeps for this user, as long as nobody was asked about it. */
  readonly offer: TakeOverOffer | undefined;
  /** Nothing would be asked in this run, and nobody has agreed to that on this machine yet. */
  readonly bypass: 'unconfirmed' | 'settled';
};

/** Settings of the user's that may be copied: by a yes, and not read without. */
export type TakeOverOffer = { readonly from: string; readonly to: string; readonly holds: readonly string[] };

/** A place with a key: where that comes from, and the model to begin with there. */
export type KeyedPlace = { readonly label: string; readonly source: string; readonly model: string };

/** A model server that answers on this machine, its models named as `--model` takes them. */
export type LocalModels = { readonly name: string; readonly models: readonly string[] };

/** Where answers are to come from. */
export type FirstModel =
  | { readonly kind: 'as_found' | 'demo' }
  | { readonly kind: 'named'; readonly model: string }
  | { readonly kind: 'key'; readonly key: string };

/** Everything that was settled. */
export type FirstRunAnswer = {
  readonly trust: 'no' | 'folder' | 'below';
  readonly model: FirstModel;
  /** Are the settings to be copied? `open`: it was not said, and is asked again. */
  readonly takeOver: 'yes' | 'no' | 'open';
  /** May calls run without questions? `open`: it was not said, so not now. */
  readonly bypass: 'yes' | 'no' | 'open';
  /** What was typed before anybody could have meant to answer. */
  readonly typed: string;
};

/** The words the tour begins with, when nobody has said anything else. */
export const DEMO_PROMPT = 'One of the tests fails. Find out why and fix it.';
