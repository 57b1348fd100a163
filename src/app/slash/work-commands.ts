import type { AgentKind } from '../../contracts/extension.ts';
import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { PanelRow } from '../../contracts/face/panel.ts';
import type { Message } from '../../contracts/message.ts';
import { fenced } from '../../lib/text/fence.ts';
import { formatBytes, formatCount, formatDuration, formatTokens } from '../../lib/text/format.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import type { SubAgent } from '../../session/sub-agents/roster.ts';
import { type BackgroundShell, endOf } from '../../tools/bash/shells.ts';
import { asPanel, type BuiltinCommand, done, failed, show } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const TAIL_LINES = 4;

/** What is at work besides the conversation: shells with what they say, sub-agents one can speak to. */
export const WORK_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'agents',
    description: 'sub-agents of this session, and the kinds of them; open one, tell it something, stop it',
    argumentHint: '[name] | tell <name> <words> | stop <name>',
    run: async (args, parts) => agentsCommand(args.trim(), parts),
  },
  {
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
  },
];

async function agentsCommand(args: string, { core, loop }: ConversationParts): Promise<CommandOutcome> {
  const { agents: kinds } = core.extensions.now();
  const { subAgents } = loop;
  const [, verb, wanted = '', words = ''] = /^(tell|stop)\s+(\S+)\s*([\s\S]*)$/.exec(args) ?? [];
  const found = args === '' ? undefined : subAgents.find(verb === undefined ? args : wanted);
  if (verb === undefined) {
    if (found !== undefined) return openedAgent(found, await subAgents.messages(found.id));
    const kind = kinds.find(({ name }) => name === args);
    if (kind !== undefined) return show(kindText(kind));
    return args === '' ? agentsPanel(kinds, subAgents.all(), core.now()) : failed(`There is no sub-agent ${args}.`);
  }
  if (found === undefined) return failed(`There is no sub-agent ${wanted} in this session.`);
  if (verb === 'tell') {
    if (words.trim() === '') return failed(`What is ${wanted} to be told? /agents tell ${wanted} <words>`);
    return done(subAgents.tell(found.id, words));
  }
  return subAgents.stop(found.id) ? done(`Ended ${found.id}.`) : done(`${found.id} had already ended.`);
}

/** What it has heard and said, to read along. */
function openedAgent({ id }: SubAgent, messages: readonly Message[]): CommandOutcome {
  const text = messages.flatMap((message) => {
    if (message.role !== 'user' && message.role !== 'assistant') return [];
    return message.blocks.flatMap((block) => {
      if (block.type === 'text')
        return [message.role === 'user' ? `> ${block.text.replaceAll('\n', '\n> ')}` : block.text];
      return block.type === 'tool_use' ? [`*${block.name}*`] : [];
    });
  });
  return { kind: 'open', view: 'sub_agent', argument: id, text: text.join('\n\n') };
}

const MOST_ENDED = 20;

function agentsPanel(kinds: readonly AgentKind[], all: readonly SubAgent[], nowMs: number): CommandOutcome {
  const working = all.filter(({ state }) => state === 'working');
  const ended = all.filter(({ state }) => state !== 'working').slice(-MOST_ENDED);
  return asPanel({
    title: 'Sub-agents',
    line: 'agents',
    note: 'more kinds of them: .claude/agents/<name>.md',
    isLive: true,
    rows: [
      ...working.map((agent) => workingRow(agent, nowMs)),
      ...ended.toReversed().map(endedRow),
      ...kinds.map(kindRow),
    ],
    empty: 'No sub-agents here.',
    acts: [],
  });
}

function workingRow(agent: SubAgent, nowMs: number): PanelRow {
  const { id, kind, line, startedAtMs } = agent;
  const facts = [`at work for ${formatDuration(nowMs - startedAtMs)}`, ...spentBy(agent), line];
  return {
    id,
    group: 'At work',
    cells: [agent.name ?? id, kind, facts.filter((fact) => fact !== '').join(', ')],
    mark: 'waiting',
    detail: [`${agent.title} (${id})`, line],
    acts: [
      ...actsOf(agent),
      { kind: 'run', key: 'ctrl+d', label: 'ends it', line: `agents stop ${id}`, sure: `ends ${id}` },
    ],
  };
}

const ENDED = { completed: 'finished', failed: 'failed', stopped: 'was stopped', cut: 'cut off', working: '' } as const;

function endedRow(agent: SubAgent): PanelRow {
  const { id, kind, title, line, state } = agent;
  return {
    id,
    group: 'Ended; each can go on',
    cells: [agent.name ?? id, kind, [ENDED[state], ...spentBy(agent), title].join(', ')],
    mark: state === 'completed' ? 'good' : 'bad',
    detail: [`${title} (${id})`, line],
    acts: actsOf(agent),
  };
}

function spentBy({ calls, tokens }: SubAgent): readonly string[] {
  return [
    ...(calls === 0 ? [] : [formatCount(calls, 'call')]),
    ...(tokens === 0 ? [] : [`${formatTokens(tokens)} tokens`]),
  ];
}

function actsOf({ id }: SubAgent): PanelRow['acts'] {
  return [
    { kind: 'run', key: 'enter', label: 'reads along', line: `agents ${id}` },
    { kind: 'write', key: 'ctrl+e', label: 'tell it', line: `agents tell ${id}`, words: '' },
  ];
}

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
  const said = fenced([`$ ${found.command}`, text === '' ? '(no output yet)' : text].join('\n'));
  return { kind: 'show', markdown: said, isLive: true } as const;
}

async function stopOne({ shells, loop }: ConversationParts, id: string) {
  const shell = shells.find(id);
  if (shell?.exit !== undefined && !shell.shell.leftSomething()) return done(`${id} had already ended.`);
  if (shell === undefined && !loop.subAgents.stop(id))
    return failed(`There is no ${id || 'such thing'} in the background.`);
  await shell?.shell.stop();
  return done(`Ended ${id}.`);
}

function kindRow({ name, description, source, model, tools }: AgentKind): PanelRow {
  const how = [model, tools === undefined ? 'all tools' : tools.join(', ')].filter((word) => word !== undefined);
  return {
    id: name,
    group: 'Kinds',
    cells: [name, source, description],
    detail: [description, how.join(', ')],
    acts: [{ kind: 'run', key: 'enter', label: 'what it is told', line: `agents ${name}` }],
  };
}

function kindText(kind: AgentKind): string {
  const { name, description, prompt, source, tools, disallowedTools, model, maxTurns } = kind;
  const also = (['effort', 'permissionMode', 'isolation', 'memory', 'color'] as const).flatMap((field) =>
    kind[field] === undefined ? [] : [`${field} ${kind[field]}`],
  );
  const facts = [
    `from ${source}`,
    tools === undefined ? 'all tools' : `tools ${tools.join(', ')}`,
    ...(disallowedTools.length === 0 ? [] : [`without ${disallowedTools.join(', ')}`]),
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(maxTurns === undefined ? [] : [`at most ${maxTurns} turns`]),
    ...also,
    ...(kind.background === true ? ['always in the background'] : []),
    ...(kind.skills === undefined ? [] : [`knows ${kind.skills.join(', ')}`]),
  ];
  return [`**${name}**: ${description}`, facts.join(', '), prompt].join('\n\n');
}
