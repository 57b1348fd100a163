import type { JsonValue } from '../../contracts/json.ts';
import { formatResultText, type TextBlock, type UserMessage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { escapeHtml } from '../../lib/text/escape-html.ts';
import { isSystemReminder } from '../../lib/text/reminder.ts';

/** An item of the readable dialogue of a session, which includes everything before a compaction. */
export type DialogueItem =
  | { readonly kind: 'user'; readonly id: string; readonly at: string; readonly text: string }
  | {
      readonly kind: 'assistant';
      readonly id: string;
      readonly at: string;
      readonly model: string;
      readonly text: string;
    }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly at: string;
      readonly tool: string;
      readonly input: JsonValue;
      readonly result?: string;
      readonly status?: string;
    }
  | { readonly kind: 'note'; readonly at: string; readonly text: string };

const TYPED_ORIGINS: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'shell']);

/** Builds the readable dialogue of a session in order, without withdrawn messages. */
export function buildDialogue(records: readonly SessionRecord[]): readonly DialogueItem[] {
  const withdrawn = new Set(records.flatMap((record) => (record.type === 'tombstone' ? [record.messageId] : [])));
  const items: DialogueItem[] = [];
  /** Item index of every call without a result. */
  const openCalls = new Map<string, number>();
  for (const record of records) {
    const at = record.timestamp;
    switch (record.type) {
      case 'user':
        if (TYPED_ORIGINS.has(record.message.origin) && !withdrawn.has(record.message.id)) {
          items.push({ kind: 'user', id: record.message.id, at, text: getPromptText(record.message) });
        }
        break;
      case 'assistant': {
        const { block, messageId: id, model } = record;
        if (withdrawn.has(id)) break;
        if (block.type === 'text') items.push({ kind: 'assistant', id, at, model, text: getBlockText(block) });
        if (block.type === 'tool_use') {
          openCalls.set(block.id, items.length);
          items.push({ kind: 'call', id: block.id, at, tool: block.name, input: block.input });
        }
        break;
      }
      case 'result': {
        const index = openCalls.get(record.callId);
        const call = index === undefined ? undefined : items[index];
        if (index === undefined || call?.kind !== 'call') break;
        items[index] = { ...call, result: formatResultText(record.result), status: record.status };
        openCalls.delete(record.callId);
        break;
      }
      case 'compact-boundary':
        items.push({ kind: 'note', at, text: 'The conversation was compacted here.' });
        break;
      case 'system':
        if (record.subtype === 'rewind') items.push({ kind: 'note', at, text: 'The conversation was rewound here.' });
        break;
      default:
    }
  }
  return items;
}

function getBlockText({ text, cut }: TextBlock): string {
  return cut === true ? `${text} … [cut off here]` : text;
}

function getPromptText({ blocks, sentBlocks }: UserMessage): string {
  return blocks
    .slice(0, sentBlocks)
    .flatMap((block) => {
      if (block.type === 'text') return isSystemReminder(block.text) ? [] : [block.text];
      return block.type === 'image' || block.type === 'document' ? [`[${block.type}]`] : [];
    })
    .join('\n');
}

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
