import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { DeclaredFacts, ToolTraits } from '../../contracts/permission.ts';
import { createLazy, memoizeByKey } from '../../lib/memoize.ts';
import {
  type AcceptedArgumentForms,
  type ForeignArgumentConverter,
  normalizeArguments,
} from './normalize-arguments.ts';

/** The forms in which a tool can be called, besides its own: models know the names of other assistants. */
export type ForeignToolCallForms = AcceptedArgumentForms & {
  /** Names of the tool in other assistants. Case, `_` and `-` make no difference. */
  readonly names?: readonly (string | ArgumentDependentToolName)[];
  /** One call as the model should write it, for the description and for errors. */
  readonly example?: string;
};

/** A name that means this tool only with certain arguments. */
export type ArgumentDependentToolName = { readonly name: string; readonly when: (input: JsonObject) => boolean };

/** The traits of a built-in tool, with the forms in which it can be called. */
export type BuiltInToolTraits = ToolTraits & { readonly forms: ForeignToolCallForms };

/** Defines the traits of a tool. Its facts are computed from normalized arguments, as the call is. */
export function defineToolTraits(traits: BuiltInToolTraits): BuiltInToolTraits {
  const { facts, forms } = traits;
  if (facts === undefined) return traits;
  return {
    ...traits,
    facts(input, cwd): DeclaredFacts {
      const normalized = normalizeArguments(input, forms);
      return normalized.ok
        ? facts(normalized.input, cwd)
        : { kind: facts(input, cwd).kind, problem: normalized.problem };
    },
  };
}

/** Names of an argument that holds the path of a file. */
export const FILE_PATH_SYNONYMS = [
  ...['path', 'file', 'filename', 'absolute_path', 'target_file', 'relative_path', 'full_path', 'uri'],
];

/** Names of an argument that holds the path of a folder. */
export const FOLDER_PATH_SYNONYMS = [
  ...['directory', 'dir', 'dir_path', 'directory_path', 'folder', 'folder_path', 'target_directory', 'root', 'cwd'],
  ...['search_path', 'search_directory', 'base_path', 'relative_workspace_path'],
];

/** Returns the calls of a text editor that has one tool for several commands. */
export function listTextEditorCallForms(...commands: readonly string[]): readonly ArgumentDependentToolName[] {
  const when: ArgumentDependentToolName['when'] = ({ command }) => commands.some((name) => name === command);
  return EDITOR_NAMES.map((name) => ({ name, when }));
}

const EDITOR_NAMES = [
  'str_replace_based_edit_tool',
  'str_replace_editor',
  'str_replace_edit_tool',
  'text_editor',
  'edit_file',
];

/** Joins several globs to one. */
export function joinGlobAlternatives(globs: readonly JsonValue[]): string {
  return globs.length === 1 ? String(globs[0]) : `{${globs.join(',')}}`;
}

/** Accepts only these values of an argument, which say what the tool does anyway. */
export function acceptOnlyArgumentValues(problem: string, ...accepted: readonly JsonValue[]): ForeignArgumentConverter {
  return (value) => (accepted.some((one) => String(one) === String(value)) ? { set: {} } : { problem });
}

const MAX_NAME_CHARS = 200;

/** Creates the function that tells by what a call, as a model wrote it, has one of these names. */
export function createToolNameMatcher(
  names: readonly (string | ArgumentDependentToolName)[],
): (written: string, input: JsonValue) => 'name' | 'arguments' | undefined {
  const getForms = createLazy(() => groupByFoldedName(names));
  return (written, input) => {
    if (written.length > MAX_NAME_CHARS) return undefined;
    const folded = foldNameOnce(written);
    const forms = getForms().get(folded) ?? [];
    if (forms.some((form) => typeof form !== 'string' && isFit(form, input))) return 'arguments';
    return forms.some((form) => typeof form === 'string') ? 'name' : undefined;
  };
}

function groupByFoldedName(
  names: readonly (string | ArgumentDependentToolName)[],
): ReadonlyMap<string, readonly (string | ArgumentDependentToolName)[]> {
  const groups = new Map<string, readonly (string | ArgumentDependentToolName)[]>();
  for (const form of names) {
    const folded = foldName(typeof form === 'string' ? form : form.name);
    groups.set(folded, [...(groups.get(folded) ?? []), form]);
  }
  return groups;
}

function isFit({ when }: ArgumentDependentToolName, input: JsonValue): boolean {
  return isJsonObject(input) && when(input);
}

/** Removes the namespace that some models write before a tool name, and differences of spelling. */
function foldName(name: string): string {
  return name
    .replace(/^(?:functions|tools|default_api)[.:]/i, '')
    .replace(/[-_\s]/g, '')
    .toLowerCase();
}

const foldNameOnce = memoizeByKey(foldName);
