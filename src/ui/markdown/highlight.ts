import type { CodeLine, Highlight, Span } from '../text/line.ts';
import type { ThemeToken } from '../theme/theme.ts';

// Six colours for all that a highlighter can tell apart.
const TOKENS: readonly (readonly [RegExp, ThemeToken])[] = [
  [/^(?:keyword|literal|selector-tag|name|section|doctag|meta-keyword|operator)\b/, 'accent'],
  [/^(?:string|regexp|char|link|attribute|selector-attr|code)\b/, 'ok'],
  [/^(?:number|symbol|bullet|variable|template-variable|params-literal)\b/, 'warn'],
  [/^(?:title|type|built_in|class|selector-class|selector-id|attr|property)\b/, 'code'],
  [/^(?:comment|quote|meta|tag|punctuation)\b/, 'dim'],
  [/^addition\b/, 'add'],
  [/^deletion\b/, 'del'],
];
const PIECE = /<span class="([^"]*)">|<\/span>|[^<]+/g;
const ENTITY: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** Loads the highlighter. It is large, so it is only done when there is code to show. */
export async function loadHighlight(): Promise<Highlight> {
  const [{ default: core }, { LANGUAGES }] = await Promise.all([
    import('highlight.js/lib/core'),
    import('./highlight-languages.ts'),
  ]);
  const instance = core.newInstance();
  for (const [name, define] of LANGUAGES) instance.registerLanguage(name, define);
  return (code, language) => {
    const name = language.toLowerCase();
    if (instance.getLanguage(name) === undefined) return undefined;
    // What is open at the last newline is open; at the very end the highlighter closes everything.
    return codeLines(instance.highlight(`${code}\n`, { language: name, ignoreIllegals: true }).value).slice(0, -1);
  };
}

function codeLines(html: string): CodeLine[] {
  const lines: CodeLine[] = [];
  const scopes: (ThemeToken | undefined)[] = [];
  let spans: Span[] = [];
  for (const [piece, scope] of html.matchAll(PIECE)) {
    if (scope !== undefined) scopes.push(tokenOf(scope) ?? scopes.at(-1));
    else if (piece === '</span>') scopes.pop();
    else {
      for (const [index, text] of decode(piece).split('\n').entries()) {
        if (index > 0) {
          lines.push({ spans, settled: scopes.length === 0 });
          spans = [];
        }
        const token = scopes.at(-1);
        if (text !== '') spans.push(token === undefined ? { text } : { text, style: { token } });
      }
    }
  }
  return [...lines, { spans, settled: scopes.length === 0 }];
}

function tokenOf(classes: string): ThemeToken | undefined {
  const scope = classes.replace(/^hljs-/, '');
  return TOKENS.find(([pattern]) => pattern.test(scope))?.[1];
}

function decode(html: string): string {
  return html.includes('&') ? html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITY[entity] ?? entity) : html;
}
