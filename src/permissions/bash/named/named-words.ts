import type { Rule } from '../../../contracts/permission.ts';
import { type DecisionContext, resolveIn } from '../../paths/context.ts';
import { ruleSays } from '../../paths/finding.ts';
import { ruleReachesInto } from '../../paths/path-rule.ts';
import type { ResolvedPath } from '../../paths/paths.ts';
import { familyOf } from '../../rules/families.ts';
import type { PossibleReading } from '../possible/read-possible.ts';
import { spellings } from '../possible/spellings.ts';
import { exactProgram, isUnknownProgram, programOf } from '../programs.ts';
import { commandFinder } from './command-finder.ts';
import { joinedAsInShell, piecesOf } from './word-pieces.ts';

const MAX_NAMES = 400;
/** Names, in all folders the line may be in. */
const MAX_PLACES = 600;
/** Flags and words of programs that change the files they are given. */
const CHANGING = /^(?:-w|-i|--(?:write|fix|in-?place|overwrite|update|apply)(?:=.*)?|fmt|format|fix)$/;
const LEFT_OUT = /^--(?:(?:exclude|ignore)(?:-\w+)?=|i?glob=!)/;
/** Words behind which variables are shown. */
const SHOWING = /^(?:.*\/)?(?:env|printenv|export|set|config|convert|get|list|decrypt)$/;

/**
 * What a line that does more than look names of all that rules deny or ask about, wherever in it that stands: nobody
 * can know what every program does with a word.
 */
export function namedWords(
  context: DecisionContext,
  possible: PossibleReading,
  cwds: readonly string[],
): readonly string[] {
  const spoken = possible.commands.map(({ argv }) => ({ argv, words: spokenWords(argv) }));
  const commands = rulesAbout(context).filter(({ tool }) => familyOf(tool) === 'command');
  const said = [...spoken.map(({ words }) => words), ...possible.texts.map((text) => [text])];
  const pieces = [...said, ...said.map((words) => words.map(joinedAsInShell))];
  const found = commands.flatMap((rule) => {
    const name = pieces.map(commandFinder(context, rule, cwds)).find((each) => each !== undefined);
    return name === undefined ? [] : [`It names ${name}, ${speaks(rule)}`];
  });
  const read = spoken.filter(({ argv }) => mayOpen(argv)).flatMap(({ words }) => words);
  const besides = spoken.flatMap(({ argv }) =>
    argv.some((word) => SHOWING.test(word)) ? (programOf(argv[0] ?? '').readsBesides ?? []) : [],
  );
  const changed = spoken.flatMap(({ argv, words }) => (mayChange(argv) ? words : archiveOf(argv)));
  const below = spoken.filter(({ argv }) => argv.some((word) => CHANGING.test(word))).flatMap(({ words }) => words);
  const reads = ruledPlaces(context, [...read, ...besides, ...possible.texts], cwds, 'read');
  const writes = ruledPlaces(context, changed, cwds, 'write');
  const folders = ruledPlaces(
    context,
    below.map((word) => word.replace(/[*?[{].*$/s, '') || '.'),
    cwds,
    'below',
  );
  return [...new Set([...found, ...reads, ...writes, ...folders])];
}

/** The places in the words that a rule about reading or writing speaks of. */
function ruledPlaces(
  context: DecisionContext,
  words: readonly string[],
  cwds: readonly string[],
  use: 'read' | 'write' | 'below',
): readonly string[] {
  const family = use === 'read' ? 'read' : 'edit';
  const rules = rulesAbout(context).filter(({ tool }) => familyOf(tool) === family);
  if (rules.length === 0 || words.length === 0) return [];
  const { places, isCut } = placesIn(context, words, cwds);
  const found = rules.flatMap((rule) => {
    const fits =
      use === 'below'
        ? (path: ResolvedPath) => path.kind === 'directory' && ruleReachesInto(rule, path.real, context.policy)
        : context.known.ruleTest(rule, use, context.facts.tool);
    const hit = places.find(fits);
    return hit === undefined ? [] : [`It names ${hit.spelling}, ${speaks(rule)}`];
  });
  return isCut ? [...found, 'It names more than is compared with the rules.'] : found;
}

/** Everything in the words that may be a path, seen from every folder. */
function placesIn(
  context: DecisionContext,
  words: readonly string[],
  cwds: readonly string[],
): { readonly places: readonly ResolvedPath[]; readonly isCut: boolean } {
  const names = new Set([...words, ...words.map(joinedAsInShell)].flatMap(piecesOf));
  const paths = [...names].filter((name) => name !== '' && !name.startsWith('-') && !name.includes('\0'));
  const places = new Map<string, ResolvedPath>();
  for (const name of paths.slice(0, MAX_NAMES)) {
    for (const cwd of cwds) {
      if (places.size > MAX_PLACES) return { places: [...places.values()], isCut: true };
      for (const spelling of spellings(context, cwd, name)) {
        const path = resolveIn(context, cwd, spelling);
        places.set(`${path.lexical}\n${path.real}`, path);
      }
    }
  }
  return { places: [...places.values()], isCut: paths.length > MAX_NAMES };
}

/** The rules that deny or ask about some commands, or some places. */
function rulesAbout({ policy }: DecisionContext): readonly Rule[] {
  return policy.rules.filter(
    ({ behavior, problem, specifier }) => behavior !== 'allow' && problem === undefined && specifier !== undefined,
  );
}

function speaks(rule: Rule): string {
  return `which falls under ${ruleSays(rule)}, where nobody can tell what becomes of it.`;
}

/** The words that may do something: neither messages, nor what is left out, nor the name of a sub-command. */
function spokenWords(argv: readonly string[]): readonly string[] {
  const { messages, suggest, globalOptions = [] } = exactProgram(argv[0] ?? '');
  const options = messages === undefined || messages === 'all' ? [] : messages.options;
  const hasMessages =
    options.length > 0 && messages !== 'all' && messages?.subs?.some((sub) => argv.includes(sub)) !== false;
  const isApart = typeof suggest === 'number' && suggest > 1;
  const sub = isApart
    ? argv.findIndex(
        (word, at) =>
          at > 0 && /^[\w-]+$/.test(word) && !word.startsWith('-') && !globalOptions.includes(argv[at - 1] ?? ''),
      )
    : -1;
  return argv.filter((word, at) => {
    if (at === 0 || at === sub || LEFT_OUT.test(word)) return false;
    if (word.startsWith('!') && /^(?:-g|--i?glob)$/.test(argv[at - 1] ?? '')) return false;
    const isMessage = options.some((option) => argv[at - 1] === option || word.startsWith(`${option}=`));
    return !(hasMessages && isMessage);
  });
}

/** Could the command, or one it starts, open what it is given? */
function mayOpen(argv: readonly string[]): boolean {
  const { opensNothing, hasScripts, runsAfter, prints } = exactProgram(argv[0] ?? '');
  return opensNothing !== true || prints === true || hasScripts === true || runsAfter !== undefined;
}

/** What `tar cf x a`, `zip x a` fill: their first word that is no option, with or without a dash. */
function archiveOf([name = '', ...words]: readonly string[]): readonly string[] {
  const { takesFolders, writes } = programOf(name);
  if (takesFolders !== 'always' || writes !== undefined) return [];
  return words.filter((word) => !/^-|^[A-Za-z]{1,6}$/.test(word)).slice(0, 1);
}

function mayChange(argv: readonly string[]): boolean {
  const [name = ''] = argv;
  return isUnknownProgram(name) || (programOf(name).reads === undefined && argv.some((word) => CHANGING.test(word)));
}
