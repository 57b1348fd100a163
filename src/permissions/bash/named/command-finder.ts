import type { Rule } from '../../../contracts/permission.ts';
import { starTest } from '../../../lib/patterns/linear-match.ts';
import type { DecisionContext } from '../../paths/context.ts';
import { expandGlob, segmentTest } from '../../paths/folder-scan.ts';
import { commandPattern, flagsOf } from '../command-rule.ts';
import { baseName } from '../words.ts';
import { flagsIn, isPattern } from './word-pieces.ts';

/** Finds the denied command that stands in the words of another one, if all of the rule does. */
export function commandFinder(
  { fs, policy }: DecisionContext,
  rule: Rule,
  cwds: readonly string[],
): (words: readonly string[]) => string | undefined {
  const fold = (word: string) => (policy.disk === 'case-insensitive' ? word.toLowerCase() : word);
  const [first = '', ...rest] = commandPattern(rule.specifier ?? '').words.map(fold);
  const name = baseName(first);
  if (!/\w/.test(name)) return () => undefined;
  const wanted = rest.flatMap(flagsOf);
  const findings = [nameFinding(name), ...rest.filter((word) => flagsOf(word).length === 0).map(wordFinding)];
  const isListed = (pattern: string) =>
    cwds.some((cwd) => {
      const names = expandGlob(fs, cwd, pattern);
      return names === 'too many' || names.some((each) => baseName(each) === name);
    });
  return (words) => {
    const text = fold(words.join(' '));
    const flags = new Set(wanted.length === 0 ? [] : flagsIn(text));
    if (wanted.every((flag) => flags.has(flag)) && isInTurn(text, findings)) return name;
    // `cp /usr/bin/c?rl x`
    const patterns = words.filter((word) => isPattern(word) && segmentTest(baseName(word))(name));
    return patterns.some((pattern) => isMeant(pattern) || isListed(pattern)) ? name : undefined;
  };
}

/** `c?rl`: with so much of a name in it a pattern is hardly about others, wherever it is looked for. */
function isMeant(pattern: string): boolean {
  return baseName(pattern).replace(/\[[^\]]*\]|[*?]/g, '').length > 1;
}

/** Do all of them match, each behind the one before? */
function isInTurn(text: string, findings: readonly Finding[]): boolean {
  let from = 0;
  for (const end of findings) {
    from = end(text, from);
    if (from === -1) return false;
  }
  return true;
}

/** Where behind a place in the text something ends that is looked for; -1 when it does not come. */
type Finding = (text: string, from: number) => number;

/** The name of a program: a word, the end of a path, or glued to a short option. */
function nameFinding(name: string): Finding {
  if (name.includes('*')) return starFinding(name, /[\w.+-]+(?![\w/+-])/g);
  const before = String.raw`(?:^|[^\w.+-]|(?<![\w-])-\w{1,2}|\\[a-z])`;
  return finding(new RegExp(`${before}${literal(name)}(?:\\.exe)?(?![\\w/-]|\\.\\w)`, 'g'));
}

function wordFinding(word: string): Finding {
  if (word.includes('*')) return starFinding(word, /[^\s"'`;|&(){}<>=:,]+/g);
  return finding(new RegExp(String.raw`(?<![^\s"'\x60;|&(){}<>=:,])${literal(word)}(?![^\s"'\x60;|&(){}<>=:,])`, 'g'));
}

function finding(expression: RegExp): Finding {
  return (text, from) => {
    expression.lastIndex = from;
    return expression.test(text) ? expression.lastIndex : -1;
  };
}

/** Stars are matched in linear time, one word of the text after another. */
function starFinding(pattern: string, words: RegExp): Finding {
  const fits = starTest(pattern);
  return (text, from) => {
    words.lastIndex = from;
    for (let found = words.exec(text); found !== null; found = words.exec(text)) {
      if (fits(found[0]) || fits(found[0].replace(/\.exe$/, ''))) return words.lastIndex;
    }
    return -1;
  };
}

function literal(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\/]/g, '\\$&');
}
