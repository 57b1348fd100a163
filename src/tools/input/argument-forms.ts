import type { JsonObject, JsonValue } from '../../contracts/json.ts';

/** The arguments of a tool and the forms in which they are accepted. */
export type AcceptedArgumentForms = {
  /** Synonyms of each argument. Case, `_` and `-` make no difference. */
  readonly synonyms: Readonly<Record<string, readonly string[]>>;
  /** Arguments that need more than another name, applied in this order. */
  readonly conversions?: Readonly<Record<string, ForeignArgumentConverter>>;
  /** Arguments of other assistants that have no meaning here; a note tells the model. */
  readonly ignored?: readonly string[];
  readonly elements?: Readonly<Record<string, AcceptedArgumentForms>>;
};

/** Computes arguments of the tool from one of another assistant. */
export type ForeignArgumentConverter = (
  value: JsonValue,
  input: JsonObject,
) => { readonly set: JsonObject; readonly note?: string } | { readonly problem: string };
