import { ToolFailure } from '../../contracts/tool.ts';
import { formatBytes } from '../../lib/text/format.ts';

const NOT_CONTENT = ['script', 'style', 'noscript', 'template', 'iframe', 'object', 'embed', 'form'] as const;
const TEXT_KIND = /^(?:text\/|application\/(?:[\w.+-]*(?:json|xml|yaml|javascript|toml)|x-sh\b))/;

/** A page as text: HTML becomes markdown, other text stays, and what is no text is refused. */
export async function pageText(body: Buffer, contentType: string): Promise<string> {
  const kind = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (kind !== '' && !TEXT_KIND.test(kind)) {
    throw new ToolFailure(
      `The address holds ${kind} (${formatBytes(body.length)}), not text. Download it with a command and use Read.`,
    );
  }
  const text = decoderFor(contentType).decode(body);
  const isHtml = kind.includes('html') || (kind === '' && /^\s*<(?:!doctype|html)/i.test(text));
  return isHtml ? toMarkdown(text) : text;
}

/** The encoding the server names; UTF-8 when it names none, or one nobody knows. */
function decoderFor(contentType: string): { decode(bytes: Buffer): string } {
  const name = /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(name);
  } catch {
    return new TextDecoder();
  }
}

async function toMarkdown(html: string): Promise<string> {
  const { default: TurndownService } = await import('turndown');
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove([...NOT_CONTENT]);
  // Pictures in the address itself are megabytes of nothing to read.
  service.addRule('pictures', {
    filter: 'img',
    replacement: (_text, node) => ('getAttribute' in node ? altOf(node.getAttribute('alt')) : ''),
  });
  return service
    .turndown(html)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function altOf(alt: string | null): string {
  return alt === null || alt.trim() === '' ? '' : `[picture: ${alt.trim()}]`;
}
