import type { Rule } from '../../../contracts/permission.ts';
import { type DecisionContext, resolveIn } from '../../paths/context.ts';
import { ruleSays } from '../../paths/finding.ts';
import { secretUnder } from '../../paths/path-findings.ts';
import { commandPattern } from '../command-rule.ts';
import { exactProgram } from '../programs.ts';
import { type ShellPart, spelled } from '../shell-part.ts';

/**
 * Why a rule for everything that begins in some way does not cover a command: it is given a file of secrets, which the rule
 * does not name (`git add .env`, `gh pr create --body-file .env`).
 */
export function namedSecret(context: DecisionContext, { argv, cwds }: ShellPart, rule: Rule): string | undefined {
  const { words, open } = commandPattern(rule.specifier ?? '');
  const { opensNothing, reads, copiesFiles, hasScripts } = exactProgram(argv[0]?.text ?? '');
  // Who allows a program that shows or copies files has thought of these; what it fills is kept like them.
  const isMeant = (opensNothing === true && hasScripts !== true) || reads !== undefined || copiesFiles === true;
  if (open === 'exact' || isMeant) return undefined;
  for (const word of argv.slice(words.length)) {
    for (const piece of new Set([spelled(word), ...word.text.split(/[=@:,]/)])) {
      if (piece === '' || piece.startsWith('-')) continue;
      const paths = cwds.map((cwd) => resolveIn(context, cwd, piece)).filter(({ kind }) => kind === 'file');
      const why = paths.map((path) => secretUnder(context, path)).find((each) => each !== undefined);
      if (why !== undefined) return `${piece} is not named by ${ruleSays(rule)}: ${why}.`;
    }
  }
  return undefined;
}
