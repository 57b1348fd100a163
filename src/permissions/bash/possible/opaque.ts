import { type Command, forEachChild, type SyntaxNode } from 'unbash';
import { programOf } from '../programs.ts';
import { baseName } from '../words.ts';
import { interpreterAt, isFedCode } from './code.ts';
import { type PossibleReading, wordsOf } from './read-possible.ts';

/** Options of many interpreters whose value is code. */
const INLINE = /^(?:-\w*[ceErR]|--?(?:eval|expr|print|execute|command|run)(?:=.*)?|eval|-ex|-B)$/;

/** Texts that some program will run as code and nobody here can read. With denials for commands such lines ask. */
export function opaqueTexts(root: SyntaxNode, possible: PossibleReading): readonly string[] {
  const found = new Set<string>();
  for (const text of possible.commands.flatMap(({ argv }) => codeProblem(argv))) found.add(text);
  visit(root);
  return [...found];

  function visit(node: SyntaxNode): void {
    if (node.type === 'Pipeline') {
      const simple = node.commands.map((each) => (each.type === 'Command' ? wordsOf(each) : []));
      simple.forEach((words, at) => {
        const isPrinted = simple.slice(0, at).every(([first = '']) => programOf(first).prints === true);
        const isKnown = isPrinted && !readsCode(words);
        if (at > 0 && !isKnown && (readsScript(words) || readsCode(words)))
          found.add(`What is piped into ${baseName(words[Math.max(0, interpreterAt(words))] ?? '')} is not known.`);
      });
    }
    if (node.type === 'Command') for (const text of fedWith(node)) found.add(text);
    forEachChild(node, visit);
  }
}

/** Why the code in the words of an interpreter, also one that another program starts, may run anything. */
function codeProblem(argv: readonly string[]): readonly string[] {
  const at = interpreterAt(argv);
  const { code } = programOf(argv[at] ?? '');
  if (code === undefined) return [];
  const rest = argv.slice(at + 1);
  const name = baseName(argv[at] ?? '');
  if (code.startsBy !== undefined)
    return rest.some((word) => code.startsBy?.test(word)) ? [`What ${name} would run is not known.`] : [];
  const { options = INLINE } = code;
  const isGiven = rest.some((word) => options.test(word));
  return isGiven ? [`What the code given to ${name} would run is not known.`] : [];
}

/** What feeds a shell or an interpreter, where nobody can read it as a script. */
function fedWith(node: Command): readonly string[] {
  const words = wordsOf(node);
  const isFromFile = node.redirects.some(({ operator }) => operator === '<' || operator === '<>');
  if (isFromFile && readsScript(words)) return ['What is in the file that a shell is fed with is not known.'];
  const isFed = node.redirects.some(({ operator }) => operator.startsWith('<'));
  return isFed && readsCode(words) ? [`What ${baseName(words[0] ?? '')} is fed with is not known.`] : [];
}

/** A shell, also behind a wrapper, that takes its script from standard input. */
function readsScript(words: readonly string[]): boolean {
  const at = words.findIndex((word) => programOf(word).isShell === true);
  if (at === -1) return false;
  const rest = words.slice(at + 1);
  return (
    !rest.includes('-c') &&
    rest.every((word, index) => word.startsWith('-') || rest[index - 1] === '-o' || rest.includes('-s'))
  );
}

/** An interpreter that takes its code from standard input: it is given no file and no code. */
function readsCode(words: readonly string[]): boolean {
  if (!isFedCode(words)) return false;
  return words.slice(interpreterAt(words) + 1).every((word) => word.startsWith('-') && !INLINE.test(word));
}
