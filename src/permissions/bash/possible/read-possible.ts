import { type Command, forEachChild, type ParsedScript, parse, type Redirect, type SyntaxNode } from 'unbash';
import { programOf } from '../programs.ts';
import type { ShellPart } from '../shell-part.ts';
import { baseName, readWord, wordsOf } from '../words.ts';
import { isFedCode } from './code.ts';
import { type ComputedWord, computedIn, isComputed, namedBy } from './computed-words.ts';
import { execStarts, runsTexts, scriptTexts } from './texts-that-run.ts';
import { wrappedStarts } from './wrappers.ts';

/** A command that may run, and the program that would run it. */
export type Reached = { readonly argv: readonly string[]; readonly via: string };

/** The generous reading, for denials: everything that could run, and every file a redirection names. */
export type PossibleReading = {
  readonly commands: readonly Reached[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** What an interpreter is fed with as code. */
  readonly code: readonly string[];
  /** What is printed into a program that runs it. */
  readonly fed: readonly string[];
  /** What stands in the line beside the words of commands: values of variables, here-documents. */
  readonly texts: readonly string[];
  readonly computed: readonly ComputedWord[];
  /** Commands that are given names nobody can list, and the place where those would stand. */
  readonly named: readonly ComputedWord[];
  /** There is more than was looked at. */
  readonly isCut: boolean;
  /** Some command stands in a substitution. */
  readonly isNested: boolean;
};

const MAX_REACHED = 1_000;
/** Words in all commands together, and characters in all texts that may run: both grow by nesting. */
const MAX_WORDS = 6_000;
const MAX_TEXT = 50_000;
const MAX_DEPTH = 12;
const SYSTEM_PROGRAM = /^\/(?:usr\/)?(?:local\/)?s?bin\/[^/]+$/;

type Run = Reached & { readonly depth: number };
type Text = { readonly text: string; readonly via: string };

/** Reads a script and every text in it that may run; `rounds` are the commands of its loops with their words filled in. */
export function readPossible(script: ParsedScript, rounds: readonly ShellPart[] = []): PossibleReading {
  const commands: Reached[] = [];
  const trees: Tree[] = [];
  const texts: Text[] = [];
  let isCut = false;
  let [words, characters] = [0, 0];

  // What a command runs comes right behind it; texts wait until all that stands in the line is read.
  function follow(runs: readonly Run[]): void {
    const stack = runs.toReversed();
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (next.argv.length === 0) continue;
      words += next.argv.length;
      if (commands.length >= MAX_REACHED || words > MAX_WORDS || next.depth > MAX_DEPTH) {
        isCut = true;
        continue;
      }
      commands.push({ argv: next.argv, via: next.via });
      stack.push(...runsOf(next).reverse());
      const via = baseName(next.argv[0] ?? '');
      texts.push(...scriptTexts(next.argv).map((text) => ({ text, via })));
    }
  }

  function read(root: SyntaxNode, via: string): void {
    const tree = treeOf(root);
    trees.push(tree);
    if (tree.isCut) isCut = true;
    follow(tree.commands.map((argv) => ({ argv, via, depth: 0 })));
    texts.push(...tree.fed.map((text) => ({ text, via: via || 'pipe' })));
  }

  function readTexts(more: readonly Text[] = []): void {
    texts.push(...more);
    for (let next = texts.shift(); next !== undefined; next = texts.shift()) {
      characters += next.text.length;
      if (commands.length >= MAX_REACHED || words > MAX_WORDS || characters > MAX_TEXT) isCut = true;
      else if (next.text.trim() !== '') read(parse(next.text), next.via);
    }
  }

  follow(rounds.map(({ argv }) => ({ argv: argv.map((word) => word.text), via: '', depth: 0 })));
  read(script, '');
  readTexts();
  // A here-document is data, unless something on the line may run it.
  if (commands.some(({ argv }) => runsTexts(argv[0] ?? '')))
    readTexts(trees.flatMap(({ data }) => data).map((text) => ({ text, via: 'here-document' })));
  const opened = rounds.flatMap(({ redirects }) => redirects);
  return {
    commands,
    reads: [
      ...opened.filter(({ use }) => use !== 'write').map(({ target }) => target.text),
      ...trees.flatMap(({ reads }) => reads),
    ],
    writes: [
      ...opened.filter(({ use }) => use !== 'read').map(({ target }) => target.text),
      ...trees.flatMap(({ writes }) => writes),
    ],
    code: trees.flatMap(({ code }) => code),
    fed: trees.flatMap(({ fed }) => fed),
    texts: trees.flatMap(({ assigned, data }) => [...assigned, ...data]),
    computed: trees.flatMap(({ computed }) => computed),
    named: trees.flatMap(({ named }) => named),
    isCut,
    isNested: trees.some((tree) => tree.isNested),
  };
}

/** The commands that a command runs by its own words. */
function runsOf({ argv, depth }: Run): Run[] {
  const [name = ''] = argv;
  const via = baseName(name);
  const inner = [...wrappedStarts(argv), ...execStarts(argv)].map((start) => argv.slice(start));
  // A program under another name is still that program.
  const copied = programOf(name).copiesFiles === true ? argv.slice(1).map((word) => word.replace(/^if=/, '')) : [];
  const renamed = copied.filter((word) => SYSTEM_PROGRAM.test(word)).map((program) => [program]);
  return [...inner, ...renamed].map((words) => ({ argv: words, via, depth: depth + 1 }));
}

/** What stands in one script, the texts inside of its words aside. */
type Tree = Pick<PossibleReading, 'reads' | 'writes' | 'code' | 'fed' | 'computed' | 'named' | 'isCut' | 'isNested'> & {
  readonly commands: readonly (readonly string[])[];
  /** Here-documents and here-strings. */
  readonly data: readonly string[];
  /** The values that variables are set to. */
  readonly assigned: readonly string[];
};

function treeOf(root: SyntaxNode): Tree {
  const { nodes, isCut } = nodesOf(root);
  const commands = nodes.filter((node) => node.type === 'Command');
  const pipes = nodes.filter((node) => node.type === 'Pipeline').map(pipeOf);
  const opened = nodes.filter((node) => node.type === 'Redirect').flatMap(openedBy);
  return {
    commands: commands.map(wordsOf),
    reads: opened.filter(({ use }) => use !== 'write').map(({ target }) => target),
    writes: opened.filter(({ use }) => use !== 'read').map(({ target }) => target),
    code: [
      ...commands.filter((node) => isFedCode(wordsOf(node))).flatMap(dataOf),
      ...pipes.flatMap(({ code }) => code),
    ],
    computed: [
      ...commands.flatMap(computedIn),
      ...opened.filter(({ target }) => isComputed(target)).map(computedTarget),
    ],
    named: nodes.filter((node) => !isLongPipe(node)).flatMap(namedBy),
    fed: pipes.flatMap(({ fed }) => fed),
    assigned: nodes.flatMap((node) =>
      node.type === 'Assignment' ? [node.value.type === 'Word' ? readWord(node.value).text : node.text] : [],
    ),
    data: nodes.flatMap((node) => {
      if (node.type === 'HereDocBody') return [node.text];
      return node.type === 'HereString' && node.target !== undefined ? [readWord(node.target).text] : [];
    }),
    isCut: isCut || nodes.some(isLongPipe),
    isNested: nodes.some((node) => node.type === 'CommandExpansion'),
  };
}

const MAX_STAGES = 100;

function isLongPipe(node: SyntaxNode): boolean {
  return node.type === 'Pipeline' && node.commands.length > MAX_STAGES;
}

function nodesOf(root: SyntaxNode): { readonly nodes: readonly SyntaxNode[]; readonly isCut: boolean } {
  const nodes: SyntaxNode[] = [];
  let isCut = false;
  const visit = (node: SyntaxNode, depth: number): void => {
    if (depth > MAX_DEPTH * 8) {
      isCut = true;
      return;
    }
    nodes.push(node);
    forEachChild(node, (child) => visit(child, depth + 1));
  };
  visit(root, 0);
  return { nodes, isCut };
}

/** What here-documents and here-strings feed a command with. */
function dataOf({ redirects }: Command): readonly string[] {
  return redirects.flatMap((redirect) => {
    if (redirect.type === 'HereDoc') return [redirect.body.text];
    return redirect.type === 'HereString' && redirect.target !== undefined ? [readWord(redirect.target).text] : [];
  });
}

/** `echo 'rm x' | sh`, `cat <<EOF | python`: what is printed into a program that runs it. */
function pipeOf({ commands }: Extract<SyntaxNode, { type: 'Pipeline' }>): Pick<Tree, 'fed' | 'code'> {
  const simple = commands.flatMap((node) => (node.type === 'Command' ? [node] : []));
  const into = commands.slice(1).flatMap((node) => (node.type === 'Command' ? [wordsOf(node)] : []));
  const printing = simple.slice(0, -1).flatMap((node) => {
    const [name = '', ...rest] = wordsOf(node);
    const { prints, copiesFiles } = programOf(name);
    return prints === true || copiesFiles === true ? [rest.join(' ')] : [];
  });
  return {
    fed: into.some((argv) => argv.some(runsTexts)) ? printing : [],
    code: into.some(isFedCode) ? [...printing, ...simple.slice(0, -1).flatMap(dataOf)] : [],
  };
}

function computedTarget({ use, target }: Opened): ComputedWord {
  return { argv: [use === 'read' ? '<' : '>', target], index: 1 };
}

type Opened = { readonly use: 'read' | 'write' | 'both'; readonly target: string };

function openedBy({ target, operator }: Redirect): readonly Opened[] {
  if (target === undefined) return [];
  const { text } = readWord(target);
  const copies = operator === '>&' || operator === '<&';
  if (copies && /^(?:\d+-?|-)$/.test(text)) return [];
  return [{ use: operator === '<>' ? 'both' : operator.startsWith('<') ? 'read' : 'write', target: text }];
}
