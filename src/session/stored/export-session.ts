import { printablePage } from '../../lib/text/sanitize.ts';
import type { DialogueItem } from './dialogue.ts';

/** A session to be read elsewhere. */
export type Exported = {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly items: readonly DialogueItem[];
};

export const EXPORT_FORMATS = ['markdown', 'json', 'html'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const EXPORT_ENDINGS: Readonly<Record<ExportFormat, string>> = { markdown: 'md', json: 'json', html: 'html' };

export function exportSession(session: Exported, format: ExportFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(session, null, 2)}\n`;
    case 'html':
      return asHtml(session);
    default:
      return asMarkdown(session);
  }
}

function asMarkdown({ id, title, cwd, gitBranch, items }: Exported): string {
  const branch = gitBranch === undefined ? '' : `, branch ${gitBranch}`;
  const head = `# ${title.replaceAll('\n', ' ')}\n\nSession ${id} in \`${cwd}\`${branch}.`;
  return `${[head, ...items.map(markdownOf)].join('\n\n')}\n`;
}

function markdownOf(item: DialogueItem): string {
  switch (item.kind) {
    case 'user':
      return `## You\n\n${item.text}`;
    case 'assistant':
      return `## ouro\n\n${item.text}`;
    case 'note':
      return `*${item.text}*`;
    default: {
      const said = item.result ?? '(no result)';
      return `**${item.tool}**\n\n${fenced(JSON.stringify(item.input, null, 2), 'json')}\n\n${fenced(said, '')}`;
    }
  }
}

/** A fence longer than any inside. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

const STYLE = `:root{color-scheme:light dark}body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}
section{margin:1.5rem 0}h2{font-size:.85rem;opacity:.6;margin:0 0 .25rem}p,pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}
pre{font:13px/1.45 ui-monospace,monospace;background:#8881;padding:.75rem;border-radius:.4rem;margin:.4rem 0}
.user{border-left:3px solid #3b82f6;padding-left:.9rem}.note{opacity:.6;font-style:italic}summary{cursor:pointer;opacity:.8}`;

/** One file that needs nothing else and runs nothing. */
function asHtml({ id, title, cwd, gitBranch, items }: Exported): string {
  const branch = gitBranch === undefined ? '' : `, branch ${gitBranch}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}</h1><p class="note">${escaped(`Session ${id} in ${cwd}${branch}.`)}</p>
${items.map(htmlOf).join('\n')}
</body></html>
`;
}

function htmlOf(item: DialogueItem): string {
  switch (item.kind) {
    case 'user':
      return `<section class="user"><h2>You</h2><p>${escaped(item.text)}</p></section>`;
    case 'assistant':
      return `<section><h2>ouro</h2><p>${escaped(item.text)}</p></section>`;
    case 'note':
      return `<p class="note">${escaped(item.text)}</p>`;
    default: {
      const input = escaped(JSON.stringify(item.input, null, 2));
      return `<details><summary>${escaped(item.tool)}</summary><pre>${input}</pre><pre>${escaped(item.result ?? '(no result)')}</pre></details>`;
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Nothing of it is markup, and what would not show, or would turn words around, is spelled out. */
function escaped(text: string): string {
  return printablePage(text.toWellFormed()).replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}
