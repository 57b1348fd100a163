import { basename } from 'node:path';
import type { ExtensionProblem, PromptTemplate } from '../contracts/extension.ts';
import { EFFORTS } from '../contracts/model.ts';
import { omitUndefined } from '../lib/json.ts';
import {
  type FrontMatter,
  getFrontMatterBoolean,
  getFrontMatterList,
  getFrontMatterObject,
  getFrontMatterText,
  getFrontMatterWords,
} from '../lib/text/front-matter.ts';
import { splitWords } from '../lib/text/lines.ts';

type Facts = FrontMatter['fields'];

/** Parses the front matter that commands and skills share. */
export function parseCommandFrontMatter(
  facts: Facts,
): Omit<PromptTemplate, 'name' | 'path' | 'source' | 'description' | 'body' | 'folder'> {
  const hint = readArgumentHint(facts);
  const hooks = getFrontMatterObject(facts, 'hooks');
  const model = getFrontMatterText(facts, 'model');
  const effortName = getFrontMatterText(facts, 'effort');
  const effort = EFFORTS.find((candidate) => candidate === effortName);
  return {
    argumentNames: getFrontMatterWords(facts, 'arguments') ?? [],
    allowedTools: getFrontMatterWords(facts, 'allowed-tools') ?? [],
    deniedTools: getFrontMatterWords(facts, 'disallowed-tools') ?? [],
    callers: readCallers(facts),
    ...(hint === undefined ? {} : { argumentHint: hint }),
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    ...omitUndefined({ effort, hooks }),
    ...(getFrontMatterText(facts, 'context') === 'fork'
      ? { forkAgentType: getFrontMatterText(facts, 'agent') ?? 'general-purpose' }
      : {}),
  };
}

/** The fields that are used; in the last line, informative ones and those of other assistants. */
const KNOWN_FIELDS = splitWords(`
  name description when_to_use argument-hint arguments allowed-tools disallowed-tools model effort context agent paths
  hooks disable-model-invocation user-invocable
  version author license compatibility metadata tags category
`);

/** Lists the fields of a command's or skill's front matter that ouro ignores. */
export function listIgnoredFrontMatterFields(facts: Facts): readonly string[] {
  const effort = getFrontMatterText(facts, 'effort');
  const unknownEffort =
    effort === undefined || EFFORTS.some((candidate) => candidate === effort) ? [] : [`effort: ${effort}`];
  return [...Object.keys(facts).filter((field) => !KNOWN_FIELDS.includes(field)), ...unknownEffort];
}

/** Reads the argument hint; unquoted brackets make it a YAML list. */
function readArgumentHint(facts: Facts): string | undefined {
  const value = facts['argument-hint'];
  return Array.isArray(value) ? `[${value.join(', ')}]` : getFrontMatterText(facts, 'argument-hint');
}

function readCallers(facts: Facts): PromptTemplate['callers'] {
  if (getFrontMatterBoolean(facts, 'disable-model-invocation') === true) return 'people';
  return getFrontMatterBoolean(facts, 'user-invocable') === false ? 'model' : 'all';
}

/** Reads the description, joined with `when_to_use`. */
export function readFrontMatterDescription(facts: Facts): string | undefined {
  const texts = [getFrontMatterText(facts, 'description'), getFrontMatterText(facts, 'when_to_use')].filter(
    (text) => text !== undefined,
  );
  return texts.length === 0 ? undefined : texts.join(' ');
}

/** Returns the start of the first line of a body, used when there is no description. */
export function getDescriptionFromBody(body: string): string {
  const line = body.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').slice(0, 80);
}

/** Reads the globs of the files a skill applies to. */
export function readPathGlobs(facts: Facts): readonly string[] {
  return (getFrontMatterList(facts, 'paths') ?? []).filter((path) => path.trim() !== '');
}

const MAX_NAMES = 4;

/** Reports the ignored front matter fields of all files in a folder as one problem. */
export function reportIgnoredFrontMatter(
  folder: string,
  label: string,
  unused: ReadonlyMap<string, readonly string[]>,
): readonly ExtensionProblem[] {
  const files = new Map<string, string[]>();
  for (const [file, names] of unused)
    for (const field of names) files.set(field, [...(files.get(field) ?? []), basename(file)]);
  if (files.size === 0) return [];
  const fields = [...files].map(([field, names]) => {
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    return `${field} (${names.slice(0, MAX_NAMES).join(', ')}${more})`;
  });
  return [{ path: folder, text: `has ${label} with fields that ouro ignores: ${fields.join('; ')}.` }];
}
