import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash';
import { HIDDEN_CHARACTERS } from '../../../lib/text/sanitize.ts';

const MAX_COMMAND_BYTES = 10_000;
/** No system accepts a longer argument, and the shell gets the whole line as one. */
const MAX_ANALYZED_CHARACTERS = 131_072;
const MAX_NESTING = 64;

/** Returns the reason why a command is not analyzed at all: parsing it would take too long. */
export function findSizeProblem(command: string): string | undefined {
  if (command.length > MAX_ANALYZED_CHARACTERS)
    return `The command is longer than ${MAX_ANALYZED_CHARACTERS} characters, so it is not analyzed.`;
  let depth = 0;
  for (const [bracket] of command.matchAll(/[(){}]/g)) {
    depth = bracket === '(' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > MAX_NESTING)
      return `The command is nested more than ${MAX_NESTING} levels deep, so it is not analyzed.`;
  }
  return undefined;
}

/** True for a command so long that it requires approval whatever it contains. */
export function isOverlong(command: string): boolean {
  return new TextEncoder().encode(command).length > MAX_COMMAND_BYTES;
}

/** Lists the reasons why the characters of a command alone require approval. */
export function listCharacterProblems(command: string): readonly string[] {
  const hidden = findHiddenCharacter(command);
  return [
    ...(hidden === undefined ? [] : [`The command contains a hidden or misleading character (${hidden}).`]),
    // Bash joins the lines before it parses words: `$\` and `(` on the next line start a substitution.
    ...(/[^\s\\](?:\\\\)*\\\n/.test(command) ? ['A line continuation splits a word.'] : []),
    ...(/(?:^|[^\\])(?:\\\\)*\\$/.test(command) ? ['The command ends with an incomplete escape.'] : []),
    ...(isOverlong(command) ? [`The command is longer than ${MAX_COMMAND_BYTES} bytes.`] : []),
  ];
}

/** Returns the first hidden or misleading character as U+XXXX. */
export function findHiddenCharacter(text: string): string | undefined {
  const index = text.search(HIDDEN_CHARACTERS);
  if (index === -1) return undefined;
  return `U+${(text.codePointAt(index) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The part of the source that the script covers; a substitution is inside a larger text. */
type Region = { readonly from: number; readonly to: number };

type SyntaxCounts = {
  readonly spans: (readonly [number, number])[];
  groups: number;
  braces: number;
  negations: number;
  loops: number;
};

/**
 * True if every byte belongs to a syntax node, an operator, a keyword or a comment, and every bracket to a group. The
 * parser tolerates errors, and text that it skipped must not count as analyzed.
 */
export function isFullyParsed(
  source: string,
  script: ParsedScript,
  region: Region = { from: 0, to: source.length },
): boolean {
  const counts: SyntaxCounts = { spans: [], groups: 0, braces: 0, negations: 0, loops: 0 };
  collectSyntax(script, counts);
  counts.spans.sort((left, right) => left[0] - right[0]);
  let uncovered = '';
  let position = region.from;
  for (const [start, end] of counts.spans) {
    if (start > position) uncovered += `${source.slice(position, start)} `;
    position = Math.max(position, end);
  }
  uncovered += source.slice(position, region.to);
  const operators = uncovered.replace(/\\\n/g, ' ').replace(/(^|[\s;&|()])#[^\n]*/g, '$1');
  const countCharacter = (char: string) => operators.split(char).length - 1;
  const isBalanced =
    countCharacter('(') === counts.groups &&
    countCharacter(')') === counts.groups &&
    countCharacter('{') === counts.braces &&
    countCharacter('}') === counts.braces &&
    countCharacter('!') === counts.negations;
  const keywords = operators
    .replace(/[\s;&|(){}!]+/g, ' ')
    .trim()
    .split(' ');
  const loopKeywords = keywords.filter((token) => token === 'for' || token === 'while').length;
  const hasLoopBodies = ['do', 'done'].every(
    (keyword) => keywords.filter((token) => token === keyword).length === loopKeywords,
  );
  return (
    isBalanced &&
    hasLoopBodies &&
    loopKeywords === counts.loops &&
    keywords.every((token) => /^(?:if|then|elif|else|fi|for|while|in|do|done|time|-p|--)?$/.test(token))
  );
}

const LEAF_NODES = new Set(['Word', 'Assignment', 'HereString', 'Redirect']);
const UNANALYZED_NODES = new Set([
  'Case',
  'Select',
  'Function',
  'Coproc',
  'TestCommand',
  'ArithmeticCommand',
  'ArithmeticFor',
]);

function collectSyntax(node: SyntaxNode, counts: SyntaxCounts): void {
  if (LEAF_NODES.has(node.type) || UNANALYZED_NODES.has(node.type)) {
    counts.spans.push([node.pos, node.end]);
    return;
  }
  if (node.type === 'HereDoc') {
    counts.spans.push([node.pos, node.delimiter?.end ?? node.end], [node.body.pos, node.body.end]);
    if (node.closing !== undefined) counts.spans.push([node.closing.pos, node.closing.end]);
    return;
  }
  if (node.type === 'Subshell') counts.groups += 1;
  if (node.type === 'BraceGroup') counts.braces += 1;
  if (node.type === 'For' || node.type === 'While') counts.loops += 1;
  if (node.type === 'Negation') counts.negations += 1;
  forEachChild(node, (child) => collectSyntax(child, counts));
}
