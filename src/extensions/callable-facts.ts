import type { Callable } from '../contracts/extension.ts';
import { EFFORTS } from '../contracts/model.ts';
import { type FrontMatter, flagFact, listFact, objectFact, textFact, wordsFact } from '../lib/text/front-matter.ts';

type Facts = FrontMatter['facts'];

/** What commands and skills say of themselves alike, in the head of their files. */
export function callableFacts(
  facts: Facts,
): Omit<Callable, 'name' | 'path' | 'source' | 'description' | 'body' | 'folder'> {
  const hint = hintOf(facts);
  const hooks = objectFact(facts, 'hooks');
  const model = textFact(facts, 'model');
  const wanted = textFact(facts, 'effort');
  const effort = EFFORTS.find((one) => one === wanted);
  return {
    argumentNames: wordsFact(facts, 'arguments') ?? [],
    allowedTools: wordsFact(facts, 'allowed-tools') ?? [],
    deniedTools: wordsFact(facts, 'disallowed-tools') ?? [],
    callers: callersOf(facts),
    ...(hint === undefined ? {} : { argumentHint: hint }),
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(hooks === undefined ? {} : { hooks }),
    ...(textFact(facts, 'context') === 'fork' ? { fork: textFact(facts, 'agent') ?? 'general-purpose' } : {}),
  };
}

const KNOWN = [
  'name',
  'description',
  'when_to_use',
  'argument-hint',
  'arguments',
  'allowed-tools',
  'disallowed-tools',
  'model',
  'effort',
  'context',
  'agent',
  'paths',
  'hooks',
  'disable-model-invocation',
  'user-invocable',
  // What other programs read, and people.
  'version',
  'author',
  'license',
  'compatibility',
  'metadata',
  'tags',
  'category',
];

/** The fields of a head that change nothing here. */
export function unusedFacts(facts: Facts): readonly string[] {
  const effort = textFact(facts, 'effort');
  const odd = effort === undefined || EFFORTS.some((one) => one === effort) ? [] : [`effort: ${effort}`];
  return [...Object.keys(facts).filter((field) => !KNOWN.includes(field)), ...odd];
}

/** A hint is most often written in brackets, which make a list of it. */
function hintOf(facts: Facts): string | undefined {
  const value = facts['argument-hint'];
  return Array.isArray(value) ? `[${value.join(', ')}]` : textFact(facts, 'argument-hint');
}

function callersOf(facts: Facts): Callable['callers'] {
  if (flagFact(facts, 'disable-model-invocation') === true) return 'people';
  return flagFact(facts, 'user-invocable') === false ? 'model' : 'all';
}

/** When it is to be used belongs to what it is. */
export function descriptionOf(facts: Facts): string | undefined {
  const said = [textFact(facts, 'description'), textFact(facts, 'when_to_use')].filter((text) => text !== undefined);
  return said.length === 0 ? undefined : said.join(' ');
}

/** The first words of a text, for what has no description. */
export function firstWords(body: string): string {
  const line = body.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').slice(0, 80);
}

/** Files of globs, however they are listed. */
export function pathsOf(facts: Facts): readonly string[] {
  return (listFact(facts, 'paths') ?? []).filter((path) => path.trim() !== '');
}
