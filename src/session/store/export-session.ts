import { escapeHtml } from '../../lib/text/escape-html.ts';
import type { DialogueItem } from './dialogue.ts';

/** The parts of a session that an export contains. */
export type SessionExportInput = {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly items: readonly DialogueItem[];
};

/** The formats of an export. */
export const SESSION_EXPORT_FORMATS = ['markdown', 'json', 'html'] as const;

/** A format of an export. */
export type SessionExportFormat = (typeof SESSION_EXPORT_FORMATS)[number];

/** The file extension of each export format. */
export const SESSION_EXPORT_EXTENSIONS: Readonly<Record<SessionExportFormat, string>> = {
  markdown: 'md',
  json: 'json',
  html: 'html',
};

/** Formats a session as the text of an export file. */
export function exportSession(session: SessionExportInput, format: SessionExportFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(session, null, 2)}\n`;
    case 'html':
      return renderHtml(session);
    default:
      return renderMarkdown(session);
  }
}

function renderMarkdown({ id, title, cwd, gitBranch, items }: SessionExportInput): string {
  const branch = gitBranch === undefined ? '' : `, branch ${gitBranch}`;
  const head = `# ${title.replaceAll('\n', ' ')}\n\nSession ${id} in \`${cwd}\`${branch}.`;
  return `${[head, ...items.map(renderMarkdownItem)].join('\n\n')}\n`;
}

function renderMarkdownItem(item: DialogueItem): string {
  switch (item.kind) {
    case 'user':
      return `## You\n\n${item.text}`;
    case 'assistant':
      return `## ouro\n\n${item.text}`;
    case 'note':
      return `*${item.text}*`;
    default: {
      const result = item.result ?? '(no result)';
      return `**${item.tool}**\n\n${wrapInFence(JSON.stringify(item.input, null, 2), 'json')}\n\n${wrapInFence(result, '')}`;
    }
  }
}

/** Wraps a text in a fence longer than any fence inside it. */
function wrapInFence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

const STYLE = `:root{color-scheme:light dark}body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}
section{margin:1.5rem 0}h2{font-size:.85rem;opacity:.6;margin:0 0 .25rem}p,pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}
pre{font:13px/1.45 ui-monospace,monospace;background:#8881;padding:.75rem;border-radius:.4rem;margin:.4rem 0}
.user{border-left:3px solid #3b82f6;padding-left:.9rem}.note{opacity:.6;font-style:italic}summary{cursor:pointer;opacity:.8}`;

/** Renders a self-contained page without scripts. */
function renderHtml({ id, title, cwd, gitBranch, items }: SessionExportInput): string {
  const branch = gitBranch === undefined ? '' : `, branch ${gitBranch}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><h1>${escapeHtml(title)}</h1><p class="note">${escapeHtml(`Session ${id} in ${cwd}${branch}.`)}</p>
${items.map(renderHtmlItem).join('\n')}
</body></html>
`;
}

function renderHtmlItem(item: DialogueItem): string {
  switch (item.kind) {
    case 'user':
      return `<section class="user"><h2>You</h2><p>${escapeHtml(item.text)}</p></section>`;
    case 'assistant':
      return `<section><h2>ouro</h2><p>${escapeHtml(item.text)}</p></section>`;
    case 'note':
      return `<p class="note">${escapeHtml(item.text)}</p>`;
    default: {
      const input = escapeHtml(JSON.stringify(item.input, null, 2));
      return `<details><summary>${escapeHtml(item.tool)}</summary><pre>${input}</pre><pre>${escapeHtml(item.result ?? '(no result)')}</pre></details>`;
    }
  }
}
