import { type ParsedScript, parse } from 'unbash';
import type { Rule } from '../../contracts/permission.ts';
import { once } from '../../lib/once.ts';
import { type DecisionContext, findRule, resolveIn } from '../paths/context.ts';
import { type Findings, type Need, ruleSays } from '../paths/finding.ts';
import { expandGlob, isCertainPattern } from '../paths/folder-scan.ts';
import { pathNeed } from '../paths/path-findings.ts';
import { familyOf } from '../rules/families.ts';
import { isCovered } from './certain/covered.ts';
import { readCertain } from './certain/read-certain.ts';
import { characterProblems, isLong, tooMuchToRead } from './check-bytes.ts';
import { commandPattern } from './command-rule.ts';
import { type Copies, copiesOfSecrets } from './copies.ts';
import { namedWords } from './named/named-words.ts';
import { plantedNeeds } from './planted.ts';
import { computedNames } from './possible/computed-names.ts';
import { filledTexts } from './possible/filled-texts.ts';
import { opaqueTexts } from './possible/opaque.ts';
import { type PossibleReading, readPossible } from './possible/read-possible.ts';
import { type ShellPaths, shellPaths } from './possible/shell-paths.ts';
import { widensPatterns } from './possible/spellings.ts';
import { startedNames } from './possible/started-names.ts';
import { printedNames } from './printed-names.ts';
import { partNeeds, redirectNeeds } from './shell-needs.ts';
import { shellObjections } from './shell-objections.ts';
import type { CertainReading, Places, ShellPart } from './shell-part.ts';

const MAX_EXPLAINED = 2_000;

/** Reads a command line both ways: generously for what speaks against it, strictly for what it needs. */
export function shellFindings(context: DecisionContext, command: string): Findings {
  const tooMuch = tooMuchToRead(command);
  if (tooMuch !== undefined) return unread(command, tooMuch);
  return lineFindings(widensPatterns(command) ? { ...context, patterns: 'wide' } : context, command);
}

function lineFindings(context: DecisionContext, command: string): Findings {
  const script = parse(command);
  // What asks for its length alone needs no strict reading.
  const certain = isLong(command)
    ? { parts: [], problems: [] }
    : readCertain(command, script, context.policy.cwd, placesOf(context));
  const possible = readAllPossible(
    command,
    script,
    certain.parts.filter((part) => part.isRound),
  );
  const cwds = [...new Set([context.policy.cwd, ...certain.parts.flatMap((part) => part.cwds)])];
  const paths = shellPaths(context, possible, cwds);
  const characters = characterProblems(command);
  const unanalysed = [
    ...characters,
    ...certain.problems,
    ...(isLong(command) || isCovered(command, script) ? [] : ['Some of its text was not understood.']),
    ...(possible.isCut ? ['It holds more commands than are looked at.'] : []),
    ...(paths.isCut ? ['It names or searches more places than are looked at.'] : []),
  ];
  const objections = shellObjections(context, command, possible, paths);
  // What asks anyway needs no long list of reasons.
  const isSettled = paths.isCut || (unanalysed.length > 0 && command.length > MAX_EXPLAINED);
  const copied = copiesOfSecrets(context, paths);
  const after = withCopies(context, copied);
  const needed = once(() => (isSettled ? [] : certain.parts.map(onceEach((part) => partNeeds(after, part)))));
  const doubts = isWatched(context) ? doubtsOf() : [];
  const isNamed = doubts.length === 0 && (unanalysed.length === 0 || !watchesBash(context));
  const whole = findRule(
    context,
    'allow',
    (rule) => familyOf(rule.tool) === 'command' && isWhole(rule.specifier, command),
  );
  if (whole !== undefined && characters.length === 0 && (isNamed || whole.specifier !== undefined)) {
    const writes =
      unanalysed.length === 0
        ? certain.parts.flatMap((part) => redirectNeeds(context, part))
        : redirectedNeeds(context, paths);
    return { objections, needs: [allowedBy(whole, command), ...writes], unanalysed, hardens: [], copies: copied.files };
  }
  const parts = needed();
  const unclear = (asks: Need['asks']) => (text: string) =>
    ({ kind: 'command', subject: command, text, asks }) as const;
  const needs: readonly Need[] = [
    ...unanalysed.map(unclear(watchesBash(context) ? 'in every mode' : 'by mode')),
    ...doubts.map(unclear('in every mode')),
    ...parts.flatMap((part) => part.needs),
  ];
  const isUnasked = needs.every(isQuiet);
  const looking = certain.parts.filter((_, at) => parts[at]?.needs.every(isQuiet));
  const planted = plantedNeeds(context, looking, isUnasked ? 'unasked' : 'mixed');
  return {
    objections,
    needs: [...needs, ...planted],
    unanalysed: [...unanalysed, ...doubts],
    hardens: [...new Set(parts.flatMap((part) => part.hardens)), ...(isUnasked ? ['path' as const] : [])],
    copies: copied.files,
  };

  /** What nobody can tell of a line that does more than look, where rules deny or ask about something. */
  function doubtsOf(): readonly string[] {
    const needs = needed().flatMap((part) => part.needs);
    if (unanalysed.length === 0 && needs.every(({ kind }) => kind === 'read')) return [];
    if (isMuch(possible)) return ['It holds more than is compared with the rules word by word.'];
    const unknown = {
      ...possible,
      computed: unanalysed.length === 0 ? unknownWords(possible, certain) : possible.computed,
    };
    // A rule for just this command has looked at its text.
    const isOpen = unanalysed.length > 0 || needs.some(({ cover }) => cover === undefined);
    const hidden = [
      ...opaqueTexts(script, unknown, (text) => isCertain(text, context)),
      ...computedNames(context, unknown, paths.cwds),
      ...filledTexts(possible),
      ...(watchesBash(context) ? startedNames(unknown) : []),
    ];
    return [...(isOpen ? hidden : []), ...namedWords(context, possible, paths.cwds)];
  }
}

function allowedBy(rule: Rule, command: string): Need {
  const text = `${command} is allowed by ${ruleSays(rule)}.`;
  return { kind: 'command', subject: command, text, cover: { by: 'rule', rule } };
}

/** What redirections may write, in a line that is not read for certain. */
function redirectedNeeds(context: DecisionContext, { writes }: ShellPaths): readonly Need[] {
  return writes
    .filter((each) => each.command.startsWith('> '))
    .map(({ path }) => pathNeed(context, { tool: context.facts.tool, use: 'write', path }));
}

/** What a line fills from files of secrets is one of them for what else the line does. */
function withCopies(context: DecisionContext, { files, elsewhere }: Copies): DecisionContext {
  const { policy } = context;
  const copies = elsewhere === 'possible' ? ['/'] : files;
  if (copies.length === 0) return context;
  return { ...context, copies, policy: { ...policy, copiedSecrets: [...(policy.copiedSecrets ?? []), ...copies] } };
}

const MAX_COMPARED = { words: 1_000, characters: 20_000 };

/** More commands and texts than are looked through for what each of them could start or stand for. */
function isMuch({ commands, texts }: PossibleReading): boolean {
  const words = commands.reduce((sum, { argv }) => sum + argv.length, 0);
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return words > MAX_COMPARED.words || characters > MAX_COMPARED.characters;
}

/** Where every part is understood, only substitutions, and lines that a loop reads, put in what is not known. */
function unknownWords({ computed }: PossibleReading, { parts }: CertainReading): PossibleReading['computed'] {
  const holdsLines = parts.some(({ argv }) => argv.some(({ kind, count }) => kind === 'data' && count === 'one'));
  return holdsLines ? computed : computed.filter(({ argv, index }) => /\$\(|`/.test(argv[index] ?? ''));
}

/** Is every part of a script read as bash reads it? */
function isCertain(text: string, context: DecisionContext): boolean {
  const script = parse(text);
  const { problems } = readCertain(text, script, context.policy.cwd, placesOf(context));
  return problems.length === 0 && isCovered(text, script) && characterProblems(text).length === 0;
}

/** What was looked at once need not be again: a line may say the same many times. */
function onceEach<Answer>(look: (part: ShellPart) => Answer): (part: ShellPart) => Answer {
  const known = new Map<string, Answer>();
  return (part) => {
    const key = JSON.stringify(part);
    const answer = known.get(key) ?? look(part);
    known.set(key, answer);
    return answer;
  };
}

/** Runs without a rule that names it: by itself, or by the mode. */
function isQuiet({ cover, edits }: Need): boolean {
  return cover === undefined ? edits === 'workspace' : cover.by === 'default';
}

/** A line nobody looks into asks in every mode, whatever allows it. */
function unread(command: string, text: string): Findings {
  const subject = command.slice(0, MAX_EXPLAINED);
  return {
    objections: [{ stage: 'ask', verdict: 'ask', subject, text }],
    needs: [{ kind: 'command', subject, text }],
    unanalysed: [text],
    hardens: [],
  };
}

/** What the strict reading has to know of the disk. */
function placesOf(context: DecisionContext): Places {
  return {
    change(cwd, target) {
      const path = resolveIn(context, cwd, target);
      return path.problem === undefined ? path.real : undefined;
    },
    namesOf(cwd, pattern) {
      const names = isCertainPattern(pattern) ? expandGlob(context.fs, cwd, pattern) : 'too many';
      return names === 'too many' ? undefined : names;
    },
    listedBy: (cwd, argv) => printedNames(context, cwd, argv),
  };
}

/** Lines that go on are read both as they stand and joined, as bash joins them before it looks at the words. */
function readAllPossible(command: string, script: ParsedScript, rounds: readonly ShellPart[]): PossibleReading {
  const one = readPossible(script, rounds);
  const joined = command.replaceAll('\\\n', '');
  if (joined === command) return one;
  const other = readPossible(parse(joined));
  return {
    commands: [...one.commands, ...other.commands],
    reads: [...one.reads, ...other.reads],
    writes: [...one.writes, ...other.writes],
    code: [...one.code, ...other.code],
    fed: [...one.fed, ...other.fed],
    texts: [...one.texts, ...other.texts],
    computed: [...one.computed, ...other.computed],
    named: [...one.named, ...other.named],
    isCut: one.isCut || other.isCut,
    isNested: one.isNested || other.isNested,
  };
}

/** A command line of several parts can be allowed word for word. */
function isWhole(specifier: string | undefined, command: string): boolean {
  if (specifier === undefined) return true;
  return specifier === command.trim() && commandPattern(specifier).open === 'exact';
}

/** Is there a rule that denies or asks about anything a line could name? */
function isWatched(context: DecisionContext): boolean {
  return context.policy.rules.some(({ behavior }) => behavior !== 'allow');
}

/** With a rule that denies or asks for commands, what cannot be named is not run. */
function watchesBash(context: DecisionContext): boolean {
  return context.policy.rules.some(
    (rule) => rule.behavior !== 'allow' && (familyOf(rule.tool) === 'command' || rule.tool === '*'),
  );
}
