import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { PanelRow } from '../../contracts/face/panel.ts';
import { messageOf } from '../../lib/errors.ts';
import { fenced } from '../../lib/text/fence.ts';
import { formatCount } from '../../lib/text/format.ts';
import { homePath } from '../../lib/text/home-path.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { isInside, resolvePath } from '../../permissions/paths/paths.ts';
import { appendPin, pinTargets } from '../../prompt/memory/pins.ts';
import { instructionBounds } from '../settings/project-folders.ts';
import { asPanel, type BuiltinCommand, failed, show } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

type ListedFile = ReturnType<ConversationParts['loop']['prompt']['memory']['report']>['files'][number];

/** The instruction files that are read here: each can be read and edited; words are kept in them for good. */
export const MEMORY_COMMAND: BuiltinCommand = {
  name: 'memory',
  description: 'the instruction files that are read here; with words, keeps them for good',
  argumentHint: '[<number> | edit <number> | [user:|local:] words to keep]',
  async run(args, parts) {
    const [, edit, number] = /^(edit )?(\d+)$/.exec(args.trim()) ?? [];
    if (args.trim() !== '' && number === undefined) return pinWords(args, parts);
    await parts.loop.ready();
    const { files, problems } = parts.loop.prompt.memory.report();
    if (number === undefined) return overview(files, problems, parts);
    const file = files[Number(number) - 1];
    if (file === undefined) return failed(`There is no instruction file ${number}. /memory lists them.`);
    if (edit !== undefined) return { kind: 'open', view: 'edit_file', argument: file.path };
    const text = await readFile(file.path, 'utf8').catch(() => undefined);
    return text === undefined ? failed(`${file.path} cannot be read.`) : show(fenced(text));
  },
};

function overview(files: readonly ListedFile[], problems: readonly string[], { core }: ConversationParts) {
  const { environment, cwd } = core;
  const troubles = problems.map(
    (text): PanelRow => ({ id: text, group: 'Problems', cells: [text], mark: 'bad', detail: [text], acts: [] }),
  );
  return asPanel({
    title: 'Memory',
    line: 'memory',
    rows: [...files.map((file, at) => fileRow(file, at + 1, homePath(file.path, environment.home, cwd))), ...troubles],
    empty: 'No instruction files here. /init writes a first one.',
    acts: [{ kind: 'write', key: 'ctrl+a', label: 'keeps words for good', line: 'memory', words: '' }],
  });
}

function fileRow({ path, scope, state, chars, paths, leftOut }: ListedFile, number: number, name: string): PanelRow {
  const waits = `waits for ${paths?.join(', ') ?? 'its folder'}`;
  const how = leftOut !== undefined ? 'left out' : state === 'waiting' ? waits : formatCount(chars, 'character');
  return {
    id: path,
    ...(leftOut === undefined ? {} : { mark: 'off' as const }),
    cells: [name, scope, how],
    detail: leftOut === undefined ? [path] : [path, `is left out: ${leftOut}`],
    acts: [
      { kind: 'run', key: 'enter', label: 'reads it', line: `memory ${number}` },
      ...(scope === 'managed'
        ? []
        : [{ kind: 'run', key: 'ctrl+e', label: 'opens it in your editor', line: `memory edit ${number}` } as const]),
    ],
  };
}

/** `# words`: kept in a memory file for later sessions, and pinned in this one so that no compaction touches it. */
async function pinWords(line: string, { agent, loop, core }: ConversationParts): Promise<CommandOutcome> {
  const { words, place } = placed(line);
  if (words === '') return { kind: 'failed', words: 'Say what to keep in mind: # tests live beside the code' };
  const { cwd, environment } = core;
  const { root } = core.repository;
  const [project, local, user] = pinTargets({ root, userFile: join(environment.ouroHome, 'CLAUDE.md') });
  const target = { project, local, user }[place];
  if (target === undefined) return { kind: 'failed', words: `There is no place called ${place}.` };
  await loop.ready();
  const agentsFile = join(root, 'AGENTS.md');
  const path = place === 'project' && !existsSync(target.path) && existsSync(agentsFile) ? agentsFile : target.path;
  const { real, problem } = resolvePath(diskFs, { cwd, home: environment.home }, path);
  const bounds = instructionBounds(cwd, root, environment.home);
  if (place !== 'user' && (problem !== undefined || !bounds.some((folder) => isInside(real, folder)))) {
    return { kind: 'failed', words: `${path} is a link to ${real}, which lies outside: nothing was written there.` };
  }
  await agent.pin(words);
  try {
    await appendPin(path, words);
  } catch (thrown) {
    return {
      kind: 'failed',
      words: `It holds for this conversation, but could not be written to ${path}: ${messageOf(thrown)}.`,
    };
  }
  await loop.prompt.memory.accept({ path, scope: place });
  const later =
    core.trusted || place === 'user' ? '' : ' Later sessions read it once this folder is trusted (ouro trust).';
  return { kind: 'done', words: `Kept in ${relative(cwd, path) || path}, and pinned in this conversation.${later}` };
}

/** `# user: words`, `# local: words`; the project's shared file otherwise. */
function placed(line: string): { readonly words: string; readonly place: 'project' | 'local' | 'user' } {
  const [, name, rest] = /^(project|local|user):\s*(.*)$/s.exec(line.trim()) ?? [];
  if (name !== 'project' && name !== 'local' && name !== 'user') return { words: line.trim(), place: 'project' };
  return { words: (rest ?? '').trim(), place: name };
}
