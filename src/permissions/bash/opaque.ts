import { type Command, forEachChild, type SyntaxNode } from 'unbash';
import type { WideReading } from './wide.ts';
import { baseName, readWord } from './words.ts';

const SHELL = /^(?:ba|z|k|mk|da|a|fi|c|tc|pw)?sh$/;
const INTERPRETER =
  /^(?:python[\d.]*|pypy\d?|node|nodejs|deno|bun|perl|ruby|php|lua[\d.]*|Rscript|osascript|tclsh|guile)$/;
const INLINE = /^(?:-\w*[ceErR]|--(?:eval|print|execute|command)(?:=.*)?|eval)$/;
const AWK = /^(?:g|m|n)?awk$/;

/** Texts that some program will run as code and nobody here can read. With denials for commands such lines ask. */
export function opaqueTexts(root: SyntaxNode, wide: WideReading): readonly string[] {
  const found = new Set<string>();
  for (const { argv } of wide.commands) {
    const name = baseName(argv[0] ?? '');
    if (INTERPRETER.test(name) && argv.some((word, at) => at > 0 && INLINE.test(word)))
      found.add(`What the code given to ${name} would run is not known.`);
    if (AWK.test(name) && argv.some((word) => /\bsystem\s*\(|\||\bgetline\b/.test(word)))
      found.add(`What ${name} would run is not known.`);
  }
  visit(root);
  return [...found];

  function visit(node: SyntaxNode): void {
    if (node.type === 'Pipeline') {
      const simple = node.commands.map((each) => (each.type === 'Command' ? wordsOf(each) : []));
      simple.forEach((words, at) => {
        const isFed = at > 0 && readsScript(words);
        const isKnown = simple.slice(0, at).every(([first]) => /^(?:echo|printf)$/.test(baseName(first ?? '')));
        if (isFed && !isKnown) found.add(`What is piped into ${baseName(words[0] ?? '')} is not known.`);
      });
    }
    if (node.type === 'Command' && readsScript(wordsOf(node))) {
      const isFromFile = node.redirects.some(({ operator }) => operator === '<' || operator === '<>');
      if (isFromFile) found.add('What is in the file that a shell is fed with is not known.');
    }
    forEachChild(node, visit);
  }
}

/** A shell, also behind a wrapper, that takes its script from standard input. */
function readsScript(words: readonly string[]): boolean {
  const at = words.findIndex((word) => SHELL.test(baseName(word)));
  if (at === -1) return false;
  const rest = words.slice(at + 1);
  return (
    !rest.includes('-c') &&
    rest.every((word, index) => word.startsWith('-') || rest[index - 1] === '-o' || rest.includes('-s'))
  );
}

function wordsOf(command: Command): readonly string[] {
  const words = [command.name, ...command.args].filter((word) => word !== undefined);
  return words.map((word) => (word.type === 'Assignment' ? word.text : readWord(word).text));
}
