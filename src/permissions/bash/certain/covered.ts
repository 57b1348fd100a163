import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash';

/** The part of the source that the script is; a substitution is inside a larger text. */
type Region = { readonly from: number; readonly to: number };

type Tally = {
  readonly spans: (readonly [number, number])[];
  groups: number;
  braces: number;
  negations: number;
  loops: number;
};

/**
 * True when every byte belongs to a node, an operator, a keyword or a comment, and every bracket to a group: the
 * parser forgives much, and what it forgave must not be taken for understood.
 */
export function isCovered(
  source: string,
  script: ParsedScript,
  region: Region = { from: 0, to: source.length },
): boolean {
  const tally: Tally = { spans: [], groups: 0, braces: 0, negations: 0, loops: 0 };
  collect(script, tally);
  tally.spans.sort((left, right) => left[0] - right[0]);
  let rest = '';
  let at = region.from;
  for (const [start, end] of tally.spans) {
    if (start > at) rest += `${source.slice(at, start)} `;
    at = Math.max(at, end);
  }
  rest += source.slice(at, region.to);
  const bare = rest.replace(/\\\n/g, ' ').replace(/(^|[\s;&|()])#[^\n]*/g, '$1');
  const count = (char: string) => bare.split(char).length - 1;
  const balanced =
    count('(') === tally.groups &&
    count(')') === tally.groups &&
    count('{') === tally.braces &&
    count('}') === tally.braces &&
    count('!') === tally.negations;
  const words = bare
    .replace(/[\s;&|(){}!]+/g, ' ')
    .trim()
    .split(' ');
  const loops = words.filter((word) => word === 'for' || word === 'while').length;
  const isLoop = ['do', 'done'].every((keyword) => words.filter((word) => word === keyword).length === loops);
  return (
    balanced &&
    isLoop &&
    loops === tally.loops &&
    words.every((word) => /^(?:if|then|elif|else|fi|for|while|in|do|done|time|-p|--)?$/.test(word))
  );
}

const LEAVES = new Set(['Word', 'Assignment', 'HereString', 'Redirect']);
const OPAQUE = new Set(['Case', 'Select', 'Function', 'Coproc', 'TestCommand', 'ArithmeticCommand', 'ArithmeticFor']);

function collect(node: SyntaxNode, tally: Tally): void {
  if (LEAVES.has(node.type) || OPAQUE.has(node.type)) {
    tally.spans.push([node.pos, node.end]);
    return;
  }
  if (node.type === 'HereDoc') {
    tally.spans.push([node.pos, node.delimiter?.end ?? node.end], [node.body.pos, node.body.end]);
    if (node.closing !== undefined) tally.spans.push([node.closing.pos, node.closing.end]);
    return;
  }
  if (node.type === 'Subshell') tally.groups += 1;
  if (node.type === 'BraceGroup') tally.braces += 1;
  if (node.type === 'For' || node.type === 'While') tally.loops += 1;
  if (node.type === 'Negation') tally.negations += 1;
  forEachChild(node, (child) => collect(child, tally));
}
