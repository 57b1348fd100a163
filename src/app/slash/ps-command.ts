import type { PanelRow } from '../../contracts/face/panel.ts';
import { formatBytes, formatDuration } from '../../lib/text/format.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { type BackgroundShell, endOf } from '../../tools/bash/shells.ts';
import { asPanel, type BuiltinCommand, done, failed, plain } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const TAIL_LINES = 4;

/** What runs in the background: shells with what they say, sub-agents. */
export const PS_COMMAND: BuiltinCommand = {
  name: 'ps',
  aliases: ['bashes', 'jobs'],
  argumentHint: '[show|stop <id>]',
  description: 'what runs in the background, and what it says; stop ends one of it',
  async run(args, parts) {
    const [verb = '', id = '', more] = args.trim().split(/\s+/);
    if (verb === '') return overview(parts);
    if (more === undefined && verb === 'stop') return stopOne(parts, id);
    if (more === undefined && verb === 'show') return showOne(parts, id);
    return failed('/ps lists what runs in the background, /ps show <id> shows what it says, /ps stop <id> ends it.');
  },
};

function overview({ core, shells, loop }: ConversationParts) {
  const nowMs = core.now();
  return asPanel({
    title: 'In the background',
    line: 'ps',
    isLive: true,
    rows: [
      ...shells.list().map((shell) => shellRow(shell, nowMs)),
      ...loop.subAgents.running().map(
        ({ id, title, startedAtMs }): PanelRow => ({
          id,
          cells: [id, title, `running for ${formatDuration(nowMs - startedAtMs)}`],
          mark: 'waiting',
          detail: [],
          acts: [stopAct(id)],
        }),
      ),
    ],
    empty: 'Nothing runs in the background.',
    acts: [],
  });
}

function shellRow({ id, command, startedAtMs, shell, exit }: BackgroundShell, nowMs: number): PanelRow {
  const state = exit === undefined ? `running for ${formatDuration(nowMs - startedAtMs)}` : `ended ${endOf(exit)}`;
  const mark = exit === undefined ? 'waiting' : exit.code === 0 ? 'good' : 'bad';
  const path = shell.output.path();
  return {
    id,
    cells: [id, oneLine(command), state, formatBytes(shell.output.totalBytes())],
    mark,
    detail: [...shell.output.tail(TAIL_LINES), ...(path === undefined ? [] : [`all of it: ${path}`])],
    acts: [
      { kind: 'run', key: 'enter', label: 'its output', line: `ps show ${id}` },
      ...(exit === undefined || shell.leftSomething() ? [stopAct(id)] : []),
    ],
  };
}

function stopAct(id: string) {
  return { kind: 'run', key: 'ctrl+d', label: 'ends it', line: `ps stop ${id}`, sure: `ends ${id}` } as const;
}

function showOne({ shells }: ConversationParts, id: string) {
  const found = shells.find(id);
  if (found === undefined) return failed(`There is no shell ${id} in the background.`);
  const text = found.shell.output.text();
  return plain([`$ ${found.command}`, text === '' ? '(no output yet)' : text].join('\n'));
}

async function stopOne({ shells, loop }: ConversationParts, id: string) {
  const shell = shells.find(id);
  if (shell?.exit !== undefined && !shell.shell.leftSomething()) return done(`${id} had already ended.`);
  if (shell === undefined && !loop.subAgents.stop(id))
    return failed(`There is no ${id || 'such thing'} in the background.`);
  await shell?.shell.stop();
  return done(`Ended ${id}.`);
}
