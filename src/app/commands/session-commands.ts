import { writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { PanelRow } from '../../contracts/frontend/command.ts';
import type { RewindOutcome } from '../../contracts/frontend/conversation.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { readTranscript } from '../../session/records/read-transcript.ts';
import { buildDialogue } from '../../session/store/dialogue.ts';
import {
  exportSession,
  SESSION_EXPORT_EXTENSIONS,
  SESSION_EXPORT_FORMATS,
  type SessionExportFormat,
} from '../../session/store/export-session.ts';
import { forkCurrentSession } from '../../session/store/fork-session.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createPanelOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

const SHORT_ID_LENGTH = 8;

/** The commands for sessions. */
export const SESSION_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'rename',
    description: 'rename this session',
    argumentHint: '<title>',
    async run(args, { actions }) {
      const title = args.trim();
      if (title === '') return createErrorOutcome('Usage: /rename <title>');
      await actions.rename(title);
      return createSuccessOutcome(`Session renamed to "${title}".`);
    },
  },
  {
    name: 'branch',
    aliases: ['fork'],
    description: 'fork this session; the copy can be resumed later',
    async run(_args, { session, core }) {
      const forked = await forkCurrentSession(session.transcript, core.environment.ouroHome);
      return forked.ok
        ? createSuccessOutcome(`Session forked. Resume the copy with: ouro --resume ${forked.id}`)
        : createErrorOutcome(forked.problem);
    },
  },
  {
    name: 'undo',
    description: 'undo the file changes of the last prompt',
    run: async (_args, { actions, core }) => describeRewind(await actions.undo(), core.live.current().cwd),
  },
  {
    name: 'redo',
    description: 'redo the file changes that the last /undo or /rewind reverted',
    run: async (_args, { actions, core }) => describeRewind(await actions.redo(), core.live.current().cwd),
  },
  {
    name: 'export',
    description: 'export this session to a file',
    argumentHint: `[${SESSION_EXPORT_FORMATS.join('|')}] [file]`,
    // Frontends without panels use the default format and file.
    run: async (args, parts) =>
      args.trim() === '' && parts.core.options.frontend === 'screen'
        ? createExportPanel(parts)
        : exportToFile(args, parts),
  },
];

function describeRewind(outcome: RewindOutcome, cwd: string) {
  if (!outcome.ok) return createErrorOutcome(outcome.problem);
  const formatPath = (path: string) => `\`${relative(cwd, path)}\``;
  const { restored, removed, problems = [], canRetry = false, prompt } = outcome;
  const lists = [
    ...(restored.length === 0 ? [] : [formatList('Restored:', restored.map(formatPath))]),
    ...(removed.length === 0 ? [] : [formatList('Removed:', removed.map(formatPath))]),
    ...(problems.length === 0 ? [] : [formatList('Not restored:', problems)]),
    ...(canRetry ? ['Run the same command again to restore the rest.'] : []),
  ];
  const first = prompt.split('\n', 1)[0] ?? '';
  const summary = problems.length === 0 ? 'Files restored' : 'Some files could not be restored';
  const target = first === '' ? '.' : ` to their state before: ${first}`;
  return createMarkdownOutcome([`${summary}${target}`, ...lists].join('\n\n'));
}

const MAX_LISTED = 100;

function formatList(title: string, items: readonly string[]): string {
  const more = items.length > MAX_LISTED ? [`- … and ${items.length - MAX_LISTED} more`] : [];
  return [title, '', ...items.slice(0, MAX_LISTED).map((item) => `- ${item}`), ...more].join('\n');
}

function createExportPanel({ agent, core }: ConversationParts) {
  const { cwd } = core.live.current();
  return createPanelOutcome({
    title: 'Export',
    command: 'export',
    note: `relative to ${cwd}; existing files are not overwritten`,
    rows: SESSION_EXPORT_FORMATS.map(
      (format): PanelRow => ({
        id: format,
        cells: [format, FORMAT_DESCRIPTIONS[format]],
        detail: [],
        actions: [
          {
            kind: 'write',
            key: 'enter',
            label: 'chooses the file',
            command: `export ${format}`,
            initialText: `ouro-${agent.sessionId.slice(0, SHORT_ID_LENGTH)}.${SESSION_EXPORT_EXTENSIONS[format]}`,
          },
        ],
      }),
    ),
    empty: '',
    actions: [],
  });
}

const FORMAT_DESCRIPTIONS: Readonly<Record<SessionExportFormat, string>> = {
  markdown: 'for reading and pasting',
  json: 'for programs',
  html: 'a page for a browser',
};

async function exportToFile(args: string, { core, agent, session: { transcript } }: ConversationParts) {
  const [first = '', ...rest] = args.trim().split(/\s+/);
  const requestedFormat = SESSION_EXPORT_FORMATS.find((format) => format === first);
  const format = requestedFormat ?? 'markdown';
  const fileName = (requestedFormat === undefined ? [first, ...rest] : rest).join(' ');
  if (transcript.path === undefined)
    return createErrorOutcome('This session is not saved, so there is nothing to export.');
  if (agent.state().messages.length === 0)
    return createErrorOutcome('This session is empty, so there is nothing to export.');
  const { sessionId } = agent;
  const { cwd, title = 'A session with ouro' } = core.live.current();
  const file = resolve(
    cwd,
    fileName === '' ? `ouro-${sessionId.slice(0, SHORT_ID_LENGTH)}.${SESSION_EXPORT_EXTENSIONS[format]}` : fileName,
  );
  try {
    await transcript.sync();
    const { records } = await readTranscript(transcript.path);
    const text = exportSession(
      { id: sessionId, title, cwd, gitBranch: core.repository.initialBranch, items: buildDialogue(records) },
      format,
    );
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
    return createSuccessOutcome(`Exported to ${file}`);
  } catch (thrown) {
    return createErrorOutcome(
      `Export failed: ${getErrorPhrase(thrown)}. Choose another file: /export ${format} <file>`,
    );
  }
}
