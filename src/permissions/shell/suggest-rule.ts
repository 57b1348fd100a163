import type { RuleSuggestion } from '../../contracts/permission.ts';
import { quoteShellWord } from '../../lib/text/shell-quotes.ts';
import { formatRule } from '../rules/parse-rule.ts';
import { FAMILY_RULE_NAMES } from '../rules/rule-families.ts';
import type { ShellArgument } from './parse/shell-words.ts';
import { findProgramFacts, getExactProgramFacts, hasShellName } from './programs/find-program-facts.ts';
import type { ProgramFacts } from './programs/program-facts.ts';
import { limitsApprovalToSession, listProgramRisks } from './programs/program-risks.ts';
import { hasRiskyArg } from './risky-args.ts';

/** Sub-commands that run their arguments. */
const RUNNERS =
  /^(?:exec|x|dlx|run-script|-\w|config|submodule|bisect|filter-branch|rebase|difftool|mergetool|tool|generate|env|shell)$/;

/** Suggests the narrowest useful rule for a command, or none if a rule would allow anything. */
export function suggestCommandRule(argv: readonly ShellArgument[]): RuleSuggestion | undefined {
  const texts = argv.map((word) => word.text);
  const [name = '', second, third] = texts;
  const defaultSuggest = runsAnything(findProgramFacts(name)) ? 'never' : 'exact';
  const {
    suggest = defaultSuggest,
    runsProjectScripts,
    commandMarkers = [],
    subcommands,
    builtins,
    exactSubcommands = [],
  } = getExactProgramFacts(name);
  if (name === '' || name.includes('/') || hasShellName(name) || suggest === 'never') return undefined;
  // An answer to it is not stored, so it gets no rule at all.
  if (findProgramFacts(name).deletes === true || listProgramRisks(name, texts.slice(1)).some(limitsApprovalToSession))
    return undefined;
  if (suggest === 'exact') return argv.some(isUnsafeWord) ? undefined : createExactRule(texts);
  if (second === undefined) return subcommands === undefined ? createExactRule(texts) : undefined;
  if (second.startsWith('-') || RUNNERS.test(second) || commandMarkers.includes(second)) return undefined;
  const depth = second === 'run' && runsProjectScripts === true ? 3 : suggest;
  if (depth === 3 && (third === undefined || third.startsWith('-'))) return undefined;
  const mayBePlugin = builtins?.includes(second) === false;
  if (mayBePlugin || exactSubcommands.includes(second) || hasRiskyArg(texts, 1))
    return argv.some(isUnsafeWord) ? undefined : createExactRule(texts);
  const words = argv.slice(0, depth);
  if (words.some(isUnsafeWord)) return undefined;
  const prefix = words.map((word) => quoteShellWord(word.text)).join(' ');
  return { rule: formatRule(FAMILY_RULE_NAMES.command, `${prefix}:*`), covers: `commands that begin with ${prefix}` };
}

/** True for a program that could do anything, so no rule for it is suggested. */
function runsAnything({
  suggest,
  interpreter,
  wrapper,
  isShell,
  runsShellCommands,
  changesShellState,
  walksFolders,
}: ProgramFacts): boolean {
  if (suggest !== undefined) return suggest === 'never';
  return (
    (interpreter ?? wrapper) !== undefined ||
    [isShell, runsShellCommands, changesShellState, walksFolders].includes(true)
  );
}

function isUnsafeWord(word: ShellArgument): boolean {
  return word.kind !== 'literal' || /[*\n]/.test(word.text);
}

function createExactRule(words: readonly string[]): RuleSuggestion | undefined {
  const text = words.map(quoteShellWord).join(' ');
  if (/(?::\*|\s\*)$/.test(text)) return undefined;
  return { rule: formatRule(FAMILY_RULE_NAMES.command, text), covers: `exactly ${text}` };
}
