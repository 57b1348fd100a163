import type { MarkedToken, Token } from 'marked';
import { plain, type Span } from '../text/line.ts';
import type { Style } from '../theme/theme.ts';

/** How much markup has to be shown because there is nothing else to show it with. */
export type InlineOptions = {
  /** Backticks and tildes stay where there is no colour to stand for them. */
  readonly marks: 'hidden' | 'shown';
  /** Whether links are clickable, so that the address need not be printed. */
  readonly links: 'clickable' | 'printed';
};

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', apos: "'" };

const TYPES = new Set(
  (
    'blockquote br checkbox code codespan def del em escape heading hr html image link list list_item paragraph ' +
    'space strong table text'
  ).split(' '),
);

/** Whether a token is one of the known kinds, so that its fields have types. */
export function isKnown(token: Token): token is MarkedToken {
  return TYPES.has(token.type);
}

/** Inline markup as spans, one list per line of the source. */
export function inlineLines(tokens: readonly Token[], options: InlineOptions): Span[][] {
  const lines: Span[][] = [[]];
  for (const span of spansOf(tokens, {}, options)) {
    const parts = span.text.split('\n');
    for (const [index, text] of parts.entries()) {
      if (index > 0) lines.push([]);
      const shown = index > 0 ? text.trimStart() : text;
      if (shown !== '') lines.at(-1)?.push({ ...span, text: shown });
    }
  }
  return lines;
}

function* spansOf(tokens: readonly Token[], style: Style, options: InlineOptions): Generator<Span> {
  for (const token of tokens) {
    if (isKnown(token)) yield* spansOfToken(token, style, options);
    else yield styled(token.raw, style);
  }
}

function* spansOfToken(token: MarkedToken, style: Style, options: InlineOptions): Generator<Span> {
  switch (token.type) {
    case 'strong':
      return yield* spansOf(token.tokens, { ...style, bold: true }, options);
    case 'em':
      return yield* spansOf(token.tokens, { ...style, italic: true }, options);
    case 'del':
      if (options.marks === 'hidden') return yield* spansOf(token.tokens, { ...style, strike: true }, options);
      yield styled('~~', style);
      yield* spansOf(token.tokens, style, options);
      return yield styled('~~', style);
    case 'codespan': {
      const code = options.marks === 'shown' ? `\`${token.text}\`` : token.text;
      return yield styled(code, { ...style, token: 'code' });
    }
    case 'br':
      return yield plain('\n');
    case 'checkbox':
      return;
    case 'escape':
      return yield styled(token.text, style);
    case 'image':
      return yield styled(`[image: ${token.text || 'no description'}] (${token.href})`, style);
    case 'link':
      return yield* linkSpans(token, style, options);
    case 'text':
      if (token.tokens !== undefined) return yield* spansOf(token.tokens, style, options);
      return yield styled(decodeEntities(token.text), style);
    default:
      return yield styled(token.raw, style);
  }
}

function* linkSpans(
  link: Extract<MarkedToken, { type: 'link' }>,
  style: Style,
  options: InlineOptions,
): Generator<Span> {
  const look: Style = { ...style, token: 'accent', underline: true };
  const isBare = link.text === link.href || link.href === `mailto:${link.text}` || link.href === `http://${link.text}`;
  const label = isBare ? [styled(link.text, look)] : [...spansOf(link.tokens, look, options)];
  const isSafe = /^(?:https?|file):/i.test(link.href);
  for (const span of label) yield isSafe && options.links === 'clickable' ? { ...span, href: link.href } : span;
  if (!isBare && (options.links === 'printed' || !isSafe)) yield styled(` (${link.href})`, { ...style, token: 'dim' });
}

function styled(text: string, style: Style): Span {
  return Object.keys(style).length === 0 ? { text } : { text, style };
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,6})|(\w{2,6}));/g,
    (entity: string, code: string | undefined, name: string | undefined) => {
      if (code !== undefined) return Number(code) > 31 ? String.fromCodePoint(Number(code)) : entity;
      return ENTITIES[name ?? ''] ?? entity;
    },
  );
}
