import { domainToUnicode } from 'node:url';
import type { ToolFacts } from '../contracts/permission.ts';
import { getShellAnalysis } from './shell/analyze.ts';
import { collectShellEffects } from './shell/effects/collect-shell-effects.ts';
import { findSizeProblem } from './shell/parse/check-source.ts';

/** Scripts with letters that look like Latin ones. */
const OTHER_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Coptic}\p{Script=Cherokee}\p{Script=Lisu}]/u;
const LATIN = /\p{Script=Latin}/u;
/** Letters of these scripts that look like Latin letters, so that whole words do. */
const LOOKALIKES = new Set('асеіјорѕухһԁԛԝӏԍкмтвнАВСЕНІЈКМОРЅТХУԌοαινρυκωχτϲϳօոսցհյքΑΒΕΖΗΙΚΜΝΟΡΤΥΧ');
/** Characters that begin an option for the eye alone: `–rf`. */
const DASH_OPTION = /^[\u2010-\u2015\u2212\uFE58\uFE63\uFF0D]+\p{L}/u;
/** Full-width, mathematical and other styled forms of ASCII letters and signs. */
const STYLED = /[\uFF01-\uFF5E\uFB00-\uFB06\u{1D400}-\u{1D7FF}\u2100-\u214F\u24B6-\u24E9]/u;

/** Returns whether the command or the host of a call has letters that look like others. */
export function hasLookalikeLetters(facts: Pick<ToolFacts, 'kind' | 'command' | 'url' | 'shell'>): boolean {
  const { kind, command, url } = facts;
  if (url !== undefined && hasLookalikeHost(url)) return true;
  if (kind !== 'shell' || command === undefined || /^[\p{ASCII}]*$/u.test(command)) return hasEncodedHost(command);
  return hasLookalikeText(command) || findSizeProblem(command) !== undefined || listNames(facts).some(isLookalikeWord);
}

/** Returns whether a text has a word of mixed scripts, a styled letter, or a sign that only looks like a dash. */
export function hasLookalikeText(text: string): boolean {
  if (/^[\p{ASCII}]*$/u.test(text)) return hasEncodedHost(text);
  return text
    .split(/[\s"'`;|&<>(){}$=,:@/\\]+/)
    .some(
      (word) =>
        word.split(/[.+_-]/).some((piece) => LATIN.test(piece) && OTHER_SCRIPT.test(piece)) ||
        DASH_OPTION.test(word) ||
        (STYLED.test(word) && /[a-z]/i.test(word.normalize('NFKC'))) ||
        (word.includes('.') && word.split('.').some(isLookalikeWord)),
    );
}

/** Returns the names of all programs of a command line. */
function listNames(facts: Pick<ToolFacts, 'command' | 'shell'>): readonly string[] {
  const { command, parse } = getShellAnalysis(facts);
  return collectShellEffects(parse(command), parse).commands.map(({ argv }) => argv[0] ?? '');
}

/** True for a word without Latin letters, all of whose letters look like Latin ones. */
function isLookalikeWord(word: string): boolean {
  const letters = [...word].filter((character) => /\p{L}/u.test(character));
  return (
    letters.length > 0 &&
    !letters.some((letter) => LATIN.test(letter)) &&
    letters.every((letter) => LOOKALIKES.has(letter))
  );
}

function hasLookalikeHost(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? url;
  return isLookalikeHost(domainToUnicode(host)) || hasLookalikeText(url);
}

/** `xn--80ak6aa92e.com` is the encoded form of a name in another script. */
function hasEncodedHost(text = ''): boolean {
  const hosts = text.match(/(?:[\w-]+\.)*xn--[\w-]+(?:\.[\w-]+)*/gi) ?? [];
  return hosts.some((host) => isLookalikeHost(domainToUnicode(host.toLowerCase())));
}

function isLookalikeHost(host: string): boolean {
  return host.split('.').some((label) => isLookalikeWord(label) || (LATIN.test(label) && OTHER_SCRIPT.test(label)));
}
