/** The kind of block that a line starts. */
export type MarkdownLineStart =
  | { readonly kind: 'fence'; readonly marker: string; readonly indent: number; readonly language: string }
  | { readonly kind: 'html'; readonly until: RegExp | 'blank' }
  | { readonly kind: 'heading' | 'rule' | 'item' | 'quote' | 'indented' | 'text' };

const FENCE = /^( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)([^`]*)$/;
const TILDE_FENCE = /^( {0,3})(~{3,})[ \t]*(\S*)/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^ ?(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\S|[ \t]*$)/;
const ITEM_IN_TEXT = /^ ?(?:[-*+]|1[.)])[ \t]+\S/;
const HTML_ENDINGS: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
];
const HTML_BLOCK =
  /^ {0,3}<\/?(?:address|article|aside|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|li|link|main|menu|nav|ol|optgroup|option|p|param|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)(?:[\s/>]|$)/i;

/** Classifies a line that is neither blank nor inside another block. */
export function classifyMarkdownLine(line: string): MarkdownLineStart {
  const fence = FENCE.exec(line) ?? TILDE_FENCE.exec(line);
  if (fence) {
    const [, indent = '', marker = '', language = ''] = fence;
    return { kind: 'fence', marker, indent: indent.length, language };
  }
  if (/^(?: {4}| {0,3}\t)/.test(line)) return { kind: 'indented' };
  if (HEADING.test(line)) return { kind: 'heading' };
  if (RULE.test(line)) return { kind: 'rule' };
  if (ITEM.test(line)) return { kind: 'item' };
  if (/^ {0,3}>/.test(line)) return { kind: 'quote' };
  const html = HTML_ENDINGS.find(([start]) => start.test(line));
  if (html) return { kind: 'html', until: html[1] };
  return HTML_BLOCK.test(line) ? { kind: 'html', until: 'blank' } : { kind: 'text' };
}

export function closesFence(line: string, marker: string): boolean {
  const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return closing !== undefined && closing.charAt(0) === marker.charAt(0) && closing.length >= marker.length;
}

/** Returns whether a line ends the paragraph above it without an empty line between them. */
export function endsParagraph(line: string, start: MarkdownLineStart): boolean {
  if (start.kind === 'fence' || start.kind === 'heading' || start.kind === 'quote') return true;
  return start.kind === 'item' && ITEM_IN_TEXT.test(line);
}

/** Returns the indentation of a line in columns. */
export function getIndent(line: string): number {
  return line.length - line.trimStart().length + 3 * (/^ *\t/.test(line) ? 1 : 0);
}

/** Returns whether a block that starts as text is only a paragraph: no underlined heading, table or definition. */
export function isPlainParagraph(source: string): boolean {
  return !/^ {0,3}(?:=+[ \t]*$|[-|:][-|: \t]*$|[*_][*_ \t]*$|\[[^\]]+\]:|<)/m.test(source);
}
