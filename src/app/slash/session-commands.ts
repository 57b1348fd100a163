import { writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { RewindOutcome } from '../../contracts/face/conversation.ts';
import { messageOf } from '../../lib/errors.ts';
import { readTranscript } from '../../session/records/read-transcript.ts';
import { dialogueOf } from '../../session/stored/dialogue.ts';
import {
  EXPORT_ENDINGS,
  EXPORT_FORMATS,
  type ExportFormat,
  exportSession,
} from '../../session/stored/export-session.ts';
import { forkNow } from '../../session/stored/store.ts';
import { asPanel, type BuiltinCommand, done, failed, show } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const ID_CHARS = 8;

/** Commands about the session itself. */
export const SESSION_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'rename',
    description: 'give this session a title',
    argumentHint: '<title>',
    async run(args, { actions }) {
      const title = args.trim();
      if (title === '') return failed('Say the title: /rename what this is about');
      await actions.rename(title);
      return done(`This session is called "${title}".`);
    },
  },
  {
    name: 'branch',
    aliases: ['fork'],
    description: 'keep a copy to go on with later; this session stays as it is',
    async run(_args, { session }) {
      const forked = await forkNow(session.transcript);
      return forked.ok ? done(`A copy is kept. Open it with: ouro --resume ${forked.id}`) : failed(forked.why);
    },
  },
  {
    name: 'undo',
    description: 'take back what the last prompt changed in files',
    run: async (_args, { actions, core }) => shown(await actions.undo(), core.live.now().cwd),
  },
  {
    name: 'redo',
    description: 'bring back what the last /undo or /rewind took from files',
    run: async (_args, { actions, core }) => shown(await actions.redo(), core.live.now().cwd),
  },
  {
    name: 'export',
    description: 'write this session into a file to be read elsewhere',
    argumentHint: `[${EXPORT_FORMATS.join('|')}] [file]`,
    // Where nobody can be asked, the usual place will do.
    run: async (args, parts) =>
      args.trim() === '' && parts.core.options.face === 'screen' ? exportPanel(parts) : exportNow(args, parts),
  },
];

function shown(outcome: RewindOutcome, cwd: string) {
  if (!outcome.ok) return failed(outcome.why);
  const name = (path: string) => `\`${relative(cwd, path)}\``;
  const { restored, removed, problems = [], prompt } = outcome;
  const lists = [
    ...(restored.length === 0 ? [] : [listed('Restored:', restored.map(name))]),
    ...(removed.length === 0 ? [] : [listed('Removed:', removed.map(name))]),
    ...(problems.length === 0 ? [] : [listed('Not brought back:', problems)]),
  ];
  const first = prompt.split('\n', 1)[0] ?? '';
  const files = problems.length === 0 ? 'Files are as before' : 'Not all files are as before';
  return show([first === '' ? `${files} that.` : `${files}: ${first}`, ...lists].join('\n\n'));
}

function listed(title: string, items: readonly string[]): string {
  return [title, '', ...items.map((item) => `- ${item}`)].join('\n');
}

/** As what, and where to: the place is written before anything is. */
function exportPanel({ agent, core }: ConversationParts) {
  const { cwd } = core.live.now();
  return asPanel({
    title: 'Export',
    line: 'export',
    note: `from ${cwd}; a file that is there already is not written over`,
    rows: EXPORT_FORMATS.map((format) => ({
      id: format,
      cells: [format, EXPORT_WORDS[format]],
      detail: [],
      acts: [
        {
          kind: 'write',
          key: 'enter',
          label: 'says where',
          line: `export ${format}`,
          words: `ouro-${agent.sessionId.slice(0, ID_CHARS)}.${EXPORT_ENDINGS[format]}`,
        },
      ],
    })),
    empty: '',
    acts: [],
  });
}

const EXPORT_WORDS: Readonly<Record<ExportFormat, string>> = {
  markdown: 'to be read and pasted anywhere',
  json: 'for programs',
  html: 'one page for a browser',
};

async function exportNow(args: string, { core, agent, session: { transcript } }: ConversationParts) {
  const [first = '', ...others] = args.trim().split(/\s+/);
  const wanted = EXPORT_FORMATS.find((format) => format === first);
  const format = wanted ?? 'markdown';
  const named = (wanted === undefined ? [first, ...others] : others).join(' ');
  if (transcript.path === undefined) return failed('This session is not kept, so there is nothing to export.');
  const { sessionId } = agent;
  const { cwd, title = 'A session with ouro' } = core.live.now();
  const file = resolve(cwd, named === '' ? `ouro-${sessionId.slice(0, ID_CHARS)}.${EXPORT_ENDINGS[format]}` : named);
  try {
    await transcript.sync();
    const { records } = await readTranscript(transcript.path);
    const text = exportSession(
      { id: sessionId, title, cwd, gitBranch: core.repository.branchAtStart, items: dialogueOf(records) },
      format,
    );
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
    return done(`Written to ${file}`);
  } catch (thrown) {
    return failed(`The session was not exported: ${messageOf(thrown)}. Name another file: /export ${format} <file>`);
  }
}
