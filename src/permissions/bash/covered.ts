import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash';

/** True when every byte belongs to a node, an operator, a keyword or a comment: nothing was skipped in silence. */
export function isCovered(source: string, script: ParsedScript): boolean {
  const spans: (readonly [number, number])[] = [];
  collect(script, spans);
  spans.sort((left, right) => left[0] - right[0]);
  let rest = '';
  let at = 0;
  for (const [start, end] of spans) {
    if (start > at) rest += `${source.slice(at, start)} `;
    at = Math.max(at, end);
  }
  rest += source.slice(at);
  const bare = rest
    .replace(/\\\n/g, ' ')
    .replace(/(^|[\s;&|()])#[^\n]*/g, '$1')
    .replace(/[\s;&|(){}!]+/g, ' ')
    .trim();
  return bare.split(' ').every((word) => /^(?:if|then|elif|else|fi|time|-p|--)?$/.test(word));
}

const LEAVES = new Set(['Word', 'Assignment', 'HereString']);
const OPAQUE = new Set([
  'For',
  'While',
  'Case',
  'Select',
  'Function',
  'Coproc',
  'TestCommand',
  'ArithmeticCommand',
  'ArithmeticFor',
]);

function collect(node: SyntaxNode, spans: (readonly [number, number])[]): void {
  if (LEAVES.has(node.type) || OPAQUE.has(node.type)) {
    spans.push([node.pos, node.end]);
    return;
  }
  if (node.type === 'Redirect') {
    spans.push([node.pos, node.end]);
    return;
  }
  if (node.type === 'HereDoc') {
    spans.push([node.pos, node.delimiter?.end ?? node.end], [node.body.pos, node.body.end]);
    if (node.closing !== undefined) spans.push([node.closing.pos, node.closing.end]);
    return;
  }
  forEachChild(node, (child) => collect(child, spans));
}
