import { basename, resolve } from 'node:path';
import type { PanelAction, PanelRow } from '../../contracts/frontend/command.ts';
import { openInEditor } from '../../ide/editor-files.ts';
import type { EditorLinkState } from '../../ide/editor-link.ts';
import type { EditorInfo, RejectedLockFile } from '../../ide/find-editors.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { formatHomePath } from '../../lib/files/path-style.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createPanelOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

const USAGE = 'Usage: /ide, /ide connect <port>, /ide off or /ide open <file>.';
const PATH_CHARS = 200;

/** The command for the link to an editor. */
export const IDE_SLASH_COMMAND: BuiltinSlashCommand = {
  name: 'ide',
  description: 'connect to your editor: selection, diffs and diagnostics',
  argumentHint: '[connect <port>|off|open <file>]',
  async run(args, parts) {
    const { link } = parts.editor;
    const [, verb = '', argument = ''] = /^(\S*)\s*(.*)$/s.exec(args.trim()) ?? [];
    switch (verb) {
      case '':
        return createOverview(parts);
      case 'connect': {
        const { editors } = await link.find();
        const editor = editors.find(({ port }) => String(port) === argument);
        if (editor === undefined) return createErrorOutcome(`No editor listens on port ${argument}. ${USAGE}`);
        const result = await link.connect(editor);
        return result.ok ? { kind: 'done' } : createErrorOutcome(`${editor.name}: ${result.problem}.`);
      }
      case 'off':
        await link.disconnect();
        return createSuccessOutcome('Disconnected from the editor. /ide connects again.');
      case 'open':
        return argument === '' ? createErrorOutcome(USAGE) : openFile(argument, parts);
      default:
        return createErrorOutcome(USAGE);
    }
  },
};

async function openFile(path: string, { core, editor: { link } }: ConversationParts) {
  if (!link.hasTool('openFile'))
    return createErrorOutcome('No editor is connected that can open files. /ide connects one.');
  try {
    await openInEditor(link, resolve(core.cwd, path));
    return createSuccessOutcome(`Opened ${path} in the editor.`);
  } catch (thrown) {
    return createErrorOutcome(`The editor could not open ${path}: ${getErrorMessage(thrown)}`);
  }
}

async function createOverview({ core, editor: { link } }: ConversationParts) {
  const { editors, rejected } = await link.find();
  const { home } = core.environment;
  const shorten = (path: string) => sanitizeUntrustedLine(formatHomePath(path, home, core.cwd) || path, PATH_CHARS);
  const state = link.getState();
  return createPanelOutcome({
    title: 'Editors',
    command: 'ide',
    isLive: true,
    rows: [...editors.map((editor) => createRow(editor, state, shorten)), ...rejected.map(createRejectedRow)],
    empty: 'No editor was found. Install its extension and open this folder in it: "ouro help editors".',
    actions: [],
  });
}

function createRow(editor: EditorInfo, state: EditorLinkState, shorten: (path: string) => string): PanelRow {
  const { port, name, folders, mismatch } = editor;
  const status = 'editor' in state && state.editor.port === port ? state.status : undefined;
  const isLinked = status === 'connected' || status === 'connecting';
  const action: PanelAction = isLinked
    ? { kind: 'run', key: 'ctrl+d', label: 'disconnects', command: 'ide off' }
    : { kind: 'run', key: 'enter', label: 'connects', command: `ide connect ${port}` };
  return {
    id: String(port),
    cells: [name, status ?? 'not connected', folders.map(shorten).join(', ')],
    mark: status === 'connected' ? 'good' : isLinked ? 'waiting' : 'off',
    detail: [`port ${port}`, ...(mismatch === undefined ? [] : [mismatch])],
    actions: [action],
  };
}

function createRejectedRow({ file, reason }: RejectedLockFile): PanelRow {
  const name = sanitizeUntrustedLine(basename(file), PATH_CHARS);
  return {
    id: file,
    cells: [name, 'not used', sanitizeUntrustedLine(reason, PATH_CHARS)],
    mark: 'bad',
    detail: [],
    actions: [],
  };
}
