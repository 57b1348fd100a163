import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { PanelAction, PanelRow, SlashCommandOutcome } from '../../contracts/frontend/command.ts';
import { getErrorPhrase, ignoreMissingFile } from '../../lib/errors.ts';
import { formatHomePath, toNativePath } from '../../lib/files/path-style.ts';
import { formatCount } from '../../lib/text/format.ts';

import { formatCodeBlock } from '../../lib/text/markdown.ts';
import { diskFs } from '../../permissions/permission-fs.ts';
import { isPathInside, resolvePath } from '../../permissions/resolve-path.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import { listInstructionRoots } from '../read-settings.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createPanelOutcome,
} from './builtin-slash-command.ts';

type ListedFile = ReturnType<ConversationParts['loop']['prompt']['memory']['report']>['files'][number];

/** `/memory`: lists instruction files, which can be shown and edited. Notes can be added to them. */
export const MEMORY_SLASH_COMMAND: BuiltinSlashCommand = {
  name: 'memory',
  description: 'list instruction files, or add a note to one',
  argumentHint: '[<number> | edit <number> | [user:|local:] <note>]',
  async run(args, parts) {
    const [, edit, number] = /^(edit )?(\d+)$/.exec(args.trim()) ?? [];
    if (args.trim() !== '' && number === undefined) return addNote(args, parts);
    await parts.loop.ready();
    const { files, problems } = parts.loop.prompt.memory.report();
    if (number === undefined) return createOverview(files, problems, parts);
    const file = files[Number(number) - 1];
    if (file === undefined) return createErrorOutcome(`There is no instruction file ${number}. /memory lists them.`);
    if (edit !== undefined) return { kind: 'open', view: 'edit_file', argument: file.path };
    const text = await readFile(file.path, 'utf8').catch(() => undefined);
    return text === undefined
      ? createErrorOutcome(`Cannot read ${file.path}.`)
      : createMarkdownOutcome(formatCodeBlock(text));
  },
};

function createOverview(files: readonly ListedFile[], problems: readonly string[], { core }: ConversationParts) {
  const { environment, cwd } = core;
  const problemRows = problems.map(
    (text): PanelRow => ({ id: text, group: 'Problems', cells: [text], mark: 'bad', detail: [text], actions: [] }),
  );
  return createPanelOutcome({
    title: 'Memory',
    command: 'memory',
    rows: [
      ...files.map((file, at) => createFileRow(file, at + 1, formatHomePath(file.path, environment.home, cwd))),
      ...problemRows,
    ],
    empty: 'No instruction files found. Create one with /init.',
    actions: [{ kind: 'write', key: 'ctrl+a', label: 'adds a note', command: 'memory', initialText: '' }],
  });
}

function createFileRow(
  { path, scope, state, chars, paths, excludedReason }: ListedFile,
  number: number,
  name: string,
): PanelRow {
  const scopeText = `applies to ${paths?.join(', ') ?? 'its folder'}`;
  const status =
    excludedReason !== undefined ? 'excluded' : state === 'waiting' ? scopeText : formatCount(chars, 'character');
  const edit: PanelAction = { kind: 'run', key: 'ctrl+e', label: 'edits it', command: `memory edit ${number}` };
  return {
    id: path,
    ...(excludedReason === undefined ? {} : { mark: 'off' as const }),
    cells: [name, scope, status],
    detail: excludedReason === undefined ? [path] : [path, `excluded: ${excludedReason}`],
    actions: [
      { kind: 'run', key: 'enter', label: 'shows it', command: `memory ${number}` },
      ...(scope === 'managed' ? [] : [edit]),
    ],
  };
}

/** Adds a note (`# note`) to an instruction file for later sessions, and pins it in this conversation. */
async function addNote(line: string, { agent, loop, core }: ConversationParts): Promise<SlashCommandOutcome> {
  const { note, scope } = parseNote(line);
  if (note === '') return { kind: 'failed', message: 'Usage: # <note>. For example: # tests live beside the code' };
  const { cwd, environment } = core;
  const { root } = core.repository;
  const [project, local, user] = listMemoryTargets({ root, userFile: join(environment.ouroHome, 'CLAUDE.md') });
  const target = { project, local, user }[scope];
  if (target === undefined) return { kind: 'failed', message: `There is no instruction file for the scope ${scope}.` };
  await loop.ready();
  const agentsFile = join(root, 'AGENTS.md');
  const path = scope === 'project' && !existsSync(target.path) && existsSync(agentsFile) ? agentsFile : target.path;
  const { real, problem } = resolvePath(diskFs, { cwd, home: environment.home }, path);
  const bounds = listInstructionRoots(cwd, root, environment.home);
  if (
    scope !== 'user' &&
    (problem !== undefined || !bounds.some((folder) => isPathInside(toNativePath(real), folder)))
  ) {
    return {
      kind: 'failed',
      message: `${path} links to ${real}, which is outside the project, so nothing was written.`,
    };
  }
  await agent.pin(note);
  try {
    // The lock keeps an edit of another session from replacing the file in between.
    await core.locks.run([path], () => appendMemoryLine(path, note));
  } catch (thrown) {
    return {
      kind: 'failed',
      message: `The note is pinned in this conversation, but could not be written to ${path}: ${getErrorPhrase(thrown)}.`,
    };
  }
  await loop.prompt.memory.acceptEdit({ path, scope });
  const later =
    core.trusted || scope === 'user' ? '' : ' Later sessions read it once this folder is trusted (ouro trust).';
  return { kind: 'done', message: `Added to ${relative(cwd, path) || path}, and pinned in this conversation.${later}` };
}

/** Parses `# user: note` and `# local: note`. Without a prefix the note goes to the project file. */
function parseNote(line: string): { readonly note: string; readonly scope: 'project' | 'local' | 'user' } {
  const [, name, rest] = /^(project|local|user):\s*(.*)$/s.exec(line.trim()) ?? [];
  if (name !== 'project' && name !== 'local' && name !== 'user') return { note: line.trim(), scope: 'project' };
  return { note: (rest ?? '').trim(), scope: name };
}

/** A memory file that a line typed with `#` can be added to. */
type MemoryTarget = { readonly label: string; readonly path: string };

/** Lists the memory files for `#` lines, the project first. @internal Exported for tests. */
export function listMemoryTargets(paths: {
  readonly root: string;
  readonly userFile: string;
}): readonly MemoryTarget[] {
  return [
    { label: 'Project, shared (CLAUDE.md)', path: join(paths.root, 'CLAUDE.md') },
    { label: 'Project, only on this machine (CLAUDE.local.md)', path: join(paths.root, 'CLAUDE.local.md') },
    { label: 'User, all projects', path: paths.userFile },
  ];
}

/** Appends a line to a memory file, creating the file if needed; existing content is not changed. @internal */
export async function appendMemoryLine(path: string, text: string): Promise<void> {
  const line = `- ${text
    .trim()
    .replace(/^[-*]\s+/, '')
    .replaceAll('\n', '\n  ')}`;
  const before = await ignoreMissingFile(readFile(path, 'utf8'));
  await mkdir(dirname(path), { recursive: true });
  const eol = before?.includes('\r\n') === true ? '\r\n' : '\n';
  const separator = before === undefined || before === '' || before.endsWith('\n') ? '' : eol;
  await appendFile(path, `${separator}${line.replaceAll('\n', eol)}${eol}`);
}
