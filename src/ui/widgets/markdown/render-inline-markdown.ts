import type { MarkedToken, Token } from 'marked';
import { plain, type StyledSpan } from '../../text/line.ts';
import type { TextStyle } from '../../theme/theme.ts';

/** The options for rendering inline markup, which depend on the terminal. */
export type InlineMarkdownOptions = {
  /** Backticks and tildes are shown where no color can replace them. */
  readonly markup: 'hidden' | 'shown';
  /** Clickable links need no printed address. */
  readonly links: 'clickable' | 'printed';
};

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', apos: "'" };

const KNOWN_TYPES = new Set(
  (
    'blockquote br checkbox code codespan def del em escape heading hr html image link list list_item paragraph ' +
    'space strong table text'
  ).split(' '),
);

/** Returns whether a token is of a kind that the renderer knows. */
export function isKnownMarkdownToken(token: Token): token is MarkedToken {
  return KNOWN_TYPES.has(token.type);
}

/** Renders inline markup as spans, one list per line of the source. */
export function renderInlineMarkdown(tokens: readonly Token[], options: InlineMarkdownOptions): StyledSpan[][] {
  const lines: StyledSpan[][] = [[]];
  for (const span of renderTokens(tokens, {}, options)) {
    const parts = span.text.split('\n');
    for (const [index, text] of parts.entries()) {
      if (index > 0) lines.push([]);
      const trimmed = index > 0 ? text.trimStart() : text;
      if (trimmed !== '') lines.at(-1)?.push({ ...span, text: trimmed });
    }
  }
  return lines;
}

function* renderTokens(
  tokens: readonly Token[],
  style: TextStyle,
  options: InlineMarkdownOptions,
): Generator<StyledSpan> {
  for (const token of tokens) {
    if (isKnownMarkdownToken(token)) yield* renderToken(token, style, options);
    else yield createSpan(token.raw, style);
  }
}

function* renderToken(token: MarkedToken, style: TextStyle, options: InlineMarkdownOptions): Generator<StyledSpan> {
  switch (token.type) {
    case 'strong':
      return yield* renderTokens(token.tokens, { ...style, bold: true }, options);
    case 'em':
      return yield* renderTokens(token.tokens, { ...style, italic: true }, options);
    case 'del':
      if (options.markup === 'hidden') return yield* renderTokens(token.tokens, { ...style, strike: true }, options);
      yield createSpan('~~', style);
      yield* renderTokens(token.tokens, style, options);
      return yield createSpan('~~', style);
    case 'codespan': {
      const code = options.markup === 'shown' ? `\`${token.text}\`` : token.text;
      return yield createSpan(code, { ...style, token: 'code' });
    }
    case 'br':
      return yield plain('\n');
    case 'checkbox':
      return;
    case 'escape':
      return yield createSpan(token.text, style);
    case 'image':
      return yield createSpan(`[image: ${token.text || 'no description'}] (${token.href})`, style);
    case 'link':
      return yield* renderLink(token, style, options);
    case 'text':
      if (token.tokens !== undefined) return yield* renderTokens(token.tokens, style, options);
      return yield createSpan(decodeEntities(token.text), style);
    default:
      return yield createSpan(token.raw, style);
  }
}

function* renderLink(
  link: Extract<MarkedToken, { type: 'link' }>,
  style: TextStyle,
  options: InlineMarkdownOptions,
): Generator<StyledSpan> {
  const linkStyle: TextStyle = { ...style, token: 'accent', underline: true };
  const isPlainUrl =
    link.text === link.href || link.href === `mailto:${link.text}` || link.href === `http://${link.text}`;
  const label = isPlainUrl ? [createSpan(link.text, linkStyle)] : [...renderTokens(link.tokens, linkStyle, options)];
  const isSafe = /^(?:https?|file):/i.test(link.href);
  for (const span of label) yield isSafe && options.links === 'clickable' ? { ...span, href: link.href } : span;
  if (!isPlainUrl && (options.links === 'printed' || !isSafe))
    yield createSpan(` (${link.href})`, { ...style, token: 'dim' });
}

function createSpan(text: string, style: TextStyle): StyledSpan {
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
