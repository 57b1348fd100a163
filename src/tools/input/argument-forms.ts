import type { JsonObject, JsonValue } from '../../contracts/json.ts';

/** The arguments of a tool and the forms in which they are accepted. */
export type ArgumentForms = {
  /** Synonyms of each argument. Case, `_` and `-` make no difference. */
  readonly synonyms: Readonly<Record<string, readonly string[]>>;
  /** Arguments that need more than another name, applied in this order. */
  readonly conversions?: Readonly<Record<string, ArgumentConversion>>;
  /** Arguments of other assistants that have no meaning here; a note tells the model. */
  readonly ignored?: readonly string[];
  /** Forms of the elements of a list. */
  readonly elements?: Readonly<Record<string, ArgumentForms>>;
};

/** Computes arguments of the tool from one of another assistant. */
export type ArgumentConversion = (
  value: JsonValue,
  input: JsonObject,
) => { readonly set: JsonObject; readonly note?: string } | { readonly problem: string };
