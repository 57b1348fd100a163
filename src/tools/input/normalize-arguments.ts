import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { isSameJson } from '../../lib/json.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { parseJsonText } from './coerce-input.ts';

/** Arguments under the names of the tool, with notes for the model; or the reason why they contradict each other. */
export type NormalizedArguments =
  | { readonly ok: true; readonly input: JsonObject; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Renames synonyms and converts arguments of other assistants. Unknown arguments stay, so that the schema refuses them;
 * null counts as omitted, because models send it for what they leave out.
 */
export function normalizeArguments(input: JsonObject, forms: AcceptedArgumentForms): NormalizedArguments {
  const renamed = renameArguments(input, forms);
  if (!renamed.ok) return renamed;
  const notes = [...renamed.notes];
  let result = renamed.input;
  for (const [name, convert] of Object.entries(forms.conversions ?? {})) {
    const { [name]: value, ...others } = result;
    if (value === undefined) continue;
    const converted = convert(value, others);
    if ('problem' in converted) return { ok: false, problem: converted.problem };
    result = { ...others, ...converted.set };
    if (converted.note !== undefined) notes.push(converted.note);
  }
  return normalizeElements({ ok: true, input: result, notes }, forms);
}

type Normalized = Extract<NormalizedArguments, { ok: true }>;

function renameArguments(input: JsonObject, forms: AcceptedArgumentForms): NormalizedArguments {
  const { names, ignoredNames } = getFoldedNames(forms);
  const result: Record<string, JsonValue> = {};
  const writtenAs = new Map<string, string>();
  const ignored: string[] = [];
  for (const [written, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    const name = names.get(foldArgumentName(written)) ?? written;
    const earlier = writtenAs.get(name);
    if (ignoredNames.has(foldArgumentName(written))) ignored.push(written);
    else if (earlier === undefined) {
      result[name] = value;
      writtenAs.set(name, written);
    } else if (!isSameJson(result[name], value)) {
      return {
        ok: false,
        problem: `"${earlier}" and "${written}" give two values for "${name}". Give only "${name}".`,
      };
    }
  }
  const notes = ignored.length === 0 ? [] : [`Ignored, because it has no meaning here: ${ignored.join(', ')}.`];
  return { ok: true, input: result, notes };
}

type FoldedNames = { readonly names: ReadonlyMap<string, string>; readonly ignoredNames: ReadonlySet<string> };

/** The names of each tool's arguments, which the arguments of every call are compared with. */
const getFoldedNames = memoizeByObject(
  (forms: AcceptedArgumentForms): FoldedNames => ({
    names: listNames(forms),
    ignoredNames: new Set((forms.ignored ?? []).map(foldArgumentName)),
  }),
);

/** Returns the argument for each folded name: arguments themselves, their synonyms, and what is converted. */
function listNames({ synonyms, conversions = {} }: AcceptedArgumentForms): ReadonlyMap<string, string> {
  const own = [...Object.keys(conversions), ...Object.keys(synonyms)].map(
    (name) => [foldArgumentName(name), name] as const,
  );
  const others = Object.entries(synonyms).flatMap(([name, written]) =>
    written.map((synonym) => [foldArgumentName(synonym), name] as const),
  );
  return new Map([...others, ...own]);
}

/** Folds the spelling of an argument; flags of one letter, as of grep, differ by case. @internal Exported for tests. */
export function foldArgumentName(name: string): string {
  return name.length <= 2 ? name : name.replace(/[-_\s]/g, '').toLowerCase();
}

function normalizeElements(normalized: Normalized, { elements = {} }: AcceptedArgumentForms): NormalizedArguments {
  let { input, notes } = normalized;
  for (const [name, forms] of Object.entries(elements)) {
    const given = input[name];
    if (given === undefined) continue;
    const value = typeof given === 'string' ? (parseJsonText(given) ?? given) : given;
    const list = isJsonObject(value) ? [value] : value;
    if (!Array.isArray(list)) continue;
    const elementInputs: JsonValue[] = [];
    for (const element of list) {
      const parsed = typeof element === 'string' ? (parseJsonText(element) ?? element) : element;
      if (!isJsonObject(parsed)) {
        elementInputs.push(parsed);
        continue;
      }
      const inner = normalizeArguments(parsed, forms);
      if (!inner.ok) return inner;
      elementInputs.push(inner.input);
      notes = [...notes, ...inner.notes];
    }
    input = { ...input, [name]: elementInputs };
  }
  return { ok: true, input, notes: [...new Set(notes)] };
}

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
