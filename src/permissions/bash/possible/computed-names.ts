import { basename } from 'node:path';
import type { Rule } from '../../../contracts/permission.ts';
import { type DecisionContext, resolveIn } from '../../paths/context.ts';
import { ruleSays } from '../../paths/finding.ts';
import { ruleReachesInto } from '../../paths/path-rule.ts';
import { familyOf } from '../../rules/families.ts';
import { exactProgram, isUnknownProgram, programOf } from '../programs.ts';
import type { ComputedWord } from './computed-words.ts';
import type { PossibleReading } from './read-possible.ts';
import { execStarts } from './texts-that-run.ts';
import { wrappedStarts } from './wrappers.ts';
import { writtenWords } from './write-words.ts';

/** Whatever stands for another text when the line runs. */
const EXPANSION = /\$\{[^}]*\}|\$\(\(?[\s\S]*\)|`[\s\S]*`|\$\w+|\$[@*#?!$-]/g;

/**
 * Names that bash puts together and a command may open, where they could be ones that a rule denies or asks about:
 * `f=.env; cat $f`.
 */
export function computedNames(
  context: DecisionContext,
  { computed, named }: PossibleReading,
  cwds: readonly string[],
): readonly string[] {
  const rules = context.policy.rules.filter(
    ({ behavior, problem, specifier }) => behavior !== 'allow' && problem === undefined && specifier !== undefined,
  );
  return [...computed, ...named.filter(({ of }) => of === undefined)].flatMap((word) => {
    const rule = rules.find(
      (each) =>
        mayBeMeant(each, word) && cwds.some((cwd) => couldName(context, each, word.argv[word.index] ?? '', cwd)),
    );
    const text = (word.argv[word.index] ?? '').replace('$(names)', 'a name it is given');
    return rule === undefined ? [] : [`${text} could stand for what falls under ${ruleSays(rule)}.`];
  });
}

/** Does the command, or one that it starts, use the word in the way the rule is about? */
function mayBeMeant(rule: Rule, { argv, index }: ComputedWord): boolean {
  const family = familyOf(rule.tool);
  if (family !== 'read' && family !== 'edit') return false;
  // A rule about what is in a folder is about any name, once one is in there.
  if (programOf(argv[0] ?? '').changesFolder === true) return /\/[*?[\]]*$/.test(rule.specifier ?? '');
  const inner = [...wrappedStarts(argv), ...execStarts(argv)].filter((start) => start < index);
  const runs =
    inner.length === 0 ? [{ argv, index }] : inner.map((start) => ({ argv: argv.slice(start), index: index - start }));
  return runs.some((run) => (family === 'read' ? opens(run) : changes(run)));
}

function opens({ argv, index }: ComputedWord): boolean {
  const [name = ''] = argv;
  if (name === '>') return false;
  const { opensNothing, prints, messages, subcommands } = exactProgram(name);
  if (opensNothing === true || prints === true) return false;
  const before = argv[index - 1] ?? '';
  if (messages !== undefined && messages !== 'all' && messages.options.includes(before)) return false;
  return subcommands === undefined || argv.slice(1, index).some((word) => subcommands.reading.includes(word));
}

function changes({ argv, index }: ComputedWord): boolean {
  const [name = ''] = argv;
  if (name === '<') return false;
  const word = argv[index] ?? '';
  const isWritten = writtenWords(argv).some((written) => written.word === word || written.word === basename(word));
  return name === '>' || isWritten || (isUnknownProgram(name) && programOf(name).opensNothing !== true);
}

/** Could the word, once it is known, name something the rule is about? */
function couldName(context: DecisionContext, rule: Rule, word: string, cwd: string): boolean {
  const known = word
    .replace(/^\$(?:HOME\b|\{HOME\})/, context.policy.home)
    .replace(/^(?:\$(?:PWD\b|\{PWD\})|\$\(pwd\)|~\+(?=\/|$))/, cwd);
  const pieces = known.split(EXPANSION);
  const [start = '', ...others] = pieces;
  if (others.length === 0 && !/[$`]/.test(known)) return false;
  const end = others.at(-1) ?? '';
  const last = basename(rule.specifier ?? '');
  const isFile = /\.\w/.test(last) && !/[*?[\\]/.test(last);
  if (isFile && !/[$`/]/.test(end) && !last.endsWith(end)) return false;
  if (start === '') return true;
  const folder = start.slice(0, start.lastIndexOf('/') + 1);
  return ruleReachesInto(rule, resolveIn(context, cwd, folder || '.').real, context.policy);
}
