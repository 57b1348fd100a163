import type { RuleSuggestion } from '../../contracts/permission.ts';
import { FAMILY_WORD } from '../rules/families.ts';
import { formatRule } from '../rules/rules.ts';
import { isGuarded } from './guarded.ts';
import type { Program } from './programs/program.ts';
import { exactProgram, programOf, soundsLikeShell } from './programs.ts';
import type { Argument } from './words.ts';

/** Sub-commands that run what follows them. */
const RUNNERS =
  /^(?:exec|x|dlx|run-script|-\w|config|submodule|bisect|filter-branch|rebase|difftool|mergetool|tool|generate|env|shell)$/;

/** The narrowest rule that is still of use for a command; none where a rule would allow anything at all. */
export function suggestCommand(argv: readonly Argument[]): RuleSuggestion | undefined {
  const texts = argv.map((word) => word.text);
  const [name = '', second, third] = texts;
  const cautious = runsAnything(programOf(name)) ? 'never' : 'exact';
  const { suggest = cautious, hasScripts, runsAfter = [], subcommands, exactly = [] } = exactProgram(name);
  if (name === '' || name.includes('/') || soundsLikeShell(name) || suggest === 'never') return undefined;
  if (suggest === 'exact') return argv.some(isOdd) ? undefined : exactlyThese(texts);
  if (second === undefined) return subcommands === undefined ? exactlyThese(texts) : undefined;
  if (second.startsWith('-') || RUNNERS.test(second) || runsAfter.includes(second)) return undefined;
  const depth = second === 'run' && hasScripts === true ? 3 : suggest;
  if (depth === 3 && (third === undefined || third.startsWith('-'))) return undefined;
  if (exactly.includes(second) || isGuarded(texts, 1)) return argv.some(isOdd) ? undefined : exactlyThese(texts);
  const head = argv.slice(0, depth);
  if (head.some(isOdd)) return undefined;
  const spelled = head.map((word) => quoted(word.text)).join(' ');
  return { rule: formatRule(FAMILY_WORD.command, `${spelled}:*`), covers: `commands that begin with ${spelled}` };
}

/** A rule for such a program would allow anything at all. */
function runsAnything({ suggest, code, wraps, isShell, runsText, changesShell, walks }: Program): boolean {
  if (suggest !== undefined) return suggest === 'never';
  return (code ?? wraps) !== undefined || [isShell, runsText, changesShell, walks].includes(true);
}

function isOdd(word: Argument): boolean {
  return word.kind !== 'literal' || /[*\n]/.test(word.text);
}

function exactlyThese(words: readonly string[]): RuleSuggestion | undefined {
  const spelled = words.map(quoted).join(' ');
  if (/(?::\*|\s\*)$/.test(spelled)) return undefined;
  return { rule: formatRule(FAMILY_WORD.command, spelled), covers: `exactly ${spelled}` };
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
