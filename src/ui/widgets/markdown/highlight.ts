import type { CodeLine, HighlightCode, StyledSpan } from '../../text/line.ts';
import type { ThemeToken } from '../../theme/theme.ts';
import type { HighlightLanguage } from './highlight-languages.ts';

/** Maps the scopes of the highlighter to the few colors of a theme. */
const SCOPE_TOKENS: readonly (readonly [RegExp, ThemeToken])[] = [
  [/^(?:keyword|literal|selector-tag|name|section|doctag|meta-keyword|operator)\b/, 'accent'],
  [/^(?:string|regexp|char|link|attribute|selector-attr|code)\b/, 'ok'],
  [/^(?:number|symbol|bullet|variable|template-variable|params-literal)\b/, 'warn'],
  [/^(?:title|type|built_in|class|selector-class|selector-id|attr|property)\b/, 'code'],
  [/^(?:comment|quote|meta|tag|punctuation)\b/, 'dim'],
  [/^addition\b/, 'add'],
  [/^deletion\b/, 'del'],
];
const HTML_PIECE = /<span class="([^"]*)">|<\/span>|[^<]+/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** Loads the highlighter. It is large, so it is loaded only when there is code to show. */
export async function loadHighlighter(): Promise<HighlightCode> {
  const [{ default: core }, { LANGUAGES }] = await Promise.all([
    import('highlight.js/lib/core'),
    import('./highlight-languages.ts'),
  ]);
  const instance = core.newInstance();
  const languages = new Map(
    LANGUAGES.flatMap((language) => [language.name, ...(language.aliases ?? [])].map((name) => [name, language])),
  );
  /** Defines a language when it is first used: the definitions are large. */
  function define(language: HighlightLanguage): void {
    if (instance.getLanguage(language.name) !== undefined) return;
    instance.registerLanguage(language.name, language.define);
    for (const name of language.embeds ?? []) {
      const embedded = languages.get(name);
      if (embedded !== undefined) define(embedded);
    }
  }
  return (code, name) => {
    const language = languages.get(name.toLowerCase());
    if (language === undefined) return undefined;
    define(language);
    // The highlighter closes all scopes at the end, so a newline is added to see which are open after the last line.
    return parseHighlighted(
      instance.highlight(`${code}\n`, { language: language.name, ignoreIllegals: true }).value,
    ).slice(0, -1);
  };
}

function parseHighlighted(html: string): CodeLine[] {
  const lines: CodeLine[] = [];
  const scopes: (ThemeToken | undefined)[] = [];
  let spans: StyledSpan[] = [];
  for (const [piece, scope] of html.matchAll(HTML_PIECE)) {
    if (scope !== undefined) scopes.push(getToken(scope) ?? scopes.at(-1));
    else if (piece === '</span>') scopes.pop();
    else {
      for (const [index, text] of decodeEntities(piece).split('\n').entries()) {
        if (index > 0) {
          lines.push({ spans, isClosed: scopes.length === 0 });
          spans = [];
        }
        const token = scopes.at(-1);
        if (text !== '') spans.push(token === undefined ? { text } : { text, style: { token } });
      }
    }
  }
  return [...lines, { spans, isClosed: scopes.length === 0 }];
}

function getToken(classes: string): ThemeToken | undefined {
  const scope = classes.replace(/^hljs-/, '');
  return SCOPE_TOKENS.find(([pattern]) => pattern.test(scope))?.[1];
}

function decodeEntities(html: string): string {
  return html.includes('&') ? html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity) : html;
}
