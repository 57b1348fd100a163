import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { PanelAction, PanelRow, SlashCommandOutcome } from '../../contracts/frontend/command.ts';
import type { Message } from '../../contracts/message.ts';
import { formatBytes, formatCount, formatDuration, formatOneLine, formatTokens } from '../../lib/text/format.ts';
import { formatCodeBlock } from '../../lib/text/markdown.ts';
import type { SubAgent } from '../../session/sub-agents.ts';
import { type BackgroundShell, describeExit } from '../../tools/bash/shell-registry.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createPanelOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

const TAIL_LINES = 4;

/** Commands for background work: sub-agents and shell commands. */
export const BACKGROUND_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'agents',
    description: 'list, open, message and stop sub-agents',
    argumentHint: '[name] | tell <name> <message> | stop <name>',
    run: async (args, parts) => runAgentsCommand(args.trim(), parts),
  },
  {
    name: 'ps',
    aliases: ['bashes', 'jobs'],
    argumentHint: '[show|stop <id>]',
    description: 'list background work; show its output or stop it',
    async run(args, parts) {
      const [verb = '', id = '', more] = args.trim().split(/\s+/);
      if (verb === '') return createOverview(parts);
      if (more === undefined && verb === 'stop') return stopWork(parts, id);
      if (more === undefined && verb === 'show') return showOutput(parts, id);
      return createErrorOutcome(
        'Usage: /ps lists background work, /ps show <id> shows its output, /ps stop <id> stops it.',
      );
    },
  },
];

async function runAgentsCommand(args: string, { core, loop }: ConversationParts): Promise<SlashCommandOutcome> {
  const { agents: kinds } = core.extensions.current();
  const { subAgents } = loop;
  const [, verb, target = '', message = ''] = /^(tell|stop)\s+(\S+)\s*([\s\S]*)$/.exec(args) ?? [];
  const found = args === '' ? undefined : subAgents.find(verb === undefined ? args : target);
  if (verb === undefined) {
    if (found !== undefined) return openAgent(found, await subAgents.messages(found.id));
    const kind = kinds.find(({ name }) => name === args);
    if (kind !== undefined) return createMarkdownOutcome(describeKind(kind));
    return args === ''
      ? createAgentsPanel(kinds, subAgents.list(), core.now())
      : createErrorOutcome(`There is no sub-agent ${args}.`);
  }
  if (found === undefined) return createErrorOutcome(`There is no sub-agent ${target} in this session.`);
  if (verb === 'tell') {
    if (message.trim() === '') return createErrorOutcome(`Usage: /agents tell ${target} <message>`);
    return createSuccessOutcome(subAgents.sendMessage(found.id, message));
  }
  return subAgents.stop(found.id)
    ? createSuccessOutcome(`Stopped ${found.id}.`)
    : createSuccessOutcome(`${found.id} had already ended.`);
}

/** Opens the conversation of a sub-agent. */
function openAgent({ id }: SubAgent, messages: readonly Message[]): SlashCommandOutcome {
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

const MAX_ENDED = 20;

function createAgentsPanel(
  kinds: readonly SubAgentDefinition[],
  all: readonly SubAgent[],
  nowMs: number,
): SlashCommandOutcome {
  const working = all.filter(({ state }) => state === 'working');
  const ended = all.filter(({ state }) => state !== 'working').slice(-MAX_ENDED);
  return createPanelOutcome({
    title: 'Sub-agents',
    command: 'agents',
    note: 'define types in .claude/agents/<name>.md',
    isLive: true,
    rows: [
      ...working.map((agent) => createRunningRow(agent, nowMs)),
      ...ended.toReversed().map(createEndedRow),
      ...kinds.map(createKindRow),
    ],
    empty: 'No sub-agents.',
    actions: [],
  });
}

function createRunningRow(agent: SubAgent, nowMs: number): PanelRow {
  const { id, kind, line, startedAtMs } = agent;
  const facts = [`running for ${formatDuration(nowMs - startedAtMs)}`, ...formatUsage(agent), line];
  return {
    id,
    group: 'Running',
    cells: [agent.name ?? id, kind, facts.filter((fact) => fact !== '').join(', ')],
    mark: 'waiting',
    detail: [`${agent.title} (${id})`, line],
    actions: [
      ...createActions(agent),
      { kind: 'run', key: 'ctrl+d', label: 'stops it', command: `agents stop ${id}`, confirmLabel: `stops ${id}` },
    ],
  };
}

const STATE_LABELS = {
  completed: 'finished',
  failed: 'failed',
  stopped: 'stopped',
  cut: 'interrupted',
  working: '',
} as const;

function createEndedRow(agent: SubAgent): PanelRow {
  const { id, kind, title, line, state } = agent;
  return {
    id,
    group: 'Ended, can be resumed',
    cells: [agent.name ?? id, kind, [STATE_LABELS[state], ...formatUsage(agent), title].join(', ')],
    mark: state === 'completed' ? 'good' : 'bad',
    detail: [`${title} (${id})`, line],
    actions: createActions(agent),
  };
}

function formatUsage({ calls, tokens }: SubAgent): readonly string[] {
  return [
    ...(calls === 0 ? [] : [formatCount(calls, 'call')]),
    ...(tokens === 0 ? [] : [`${formatTokens(tokens)} tokens`]),
  ];
}

function createActions({ id }: SubAgent): PanelRow['actions'] {
  return [
    { kind: 'run', key: 'enter', label: 'opens it', command: `agents ${id}` },
    { kind: 'write', key: 'ctrl+e', label: 'sends a message', command: `agents tell ${id}`, initialText: '' },
  ];
}

function createOverview({ core, shells, loop }: ConversationParts) {
  const nowMs = core.now();
  return createPanelOutcome({
    title: 'Background work',
    command: 'ps',
    isLive: true,
    rows: [
      ...shells.list().map((shell) => createShellRow(shell, nowMs)),
      ...loop.subAgents.listRunning().map(
        ({ id, title, startedAtMs }): PanelRow => ({
          id,
          cells: [id, title, `running for ${formatDuration(nowMs - startedAtMs)}`],
          mark: 'waiting',
          detail: [],
          actions: [createStopAction(id)],
        }),
      ),
    ],
    empty: 'Nothing runs in the background.',
    actions: [],
  });
}

function createShellRow({ id, command, startedAtMs, shell, exit, monitor }: BackgroundShell, nowMs: number): PanelRow {
  const state =
    exit === undefined ? `running for ${formatDuration(nowMs - startedAtMs)}` : `ended ${describeExit(exit)}`;
  const mark = exit === undefined ? 'waiting' : exit.code === 0 ? 'good' : 'bad';
  const path = shell.output.path();
  return {
    id,
    cells: [id, formatOneLine(monitor ?? command), state, formatBytes(shell.output.totalBytes())],
    mark,
    detail: [...shell.output.tail(TAIL_LINES), ...(path === undefined ? [] : [`full output: ${path}`])],
    actions: [
      { kind: 'run', key: 'enter', label: 'shows its output', command: `ps show ${id}` },
      ...(exit === undefined || shell.hasLeftProcesses() ? [createStopAction(id)] : []),
    ],
  };
}

function createStopAction(id: string): PanelAction {
  return { kind: 'run', key: 'ctrl+d', label: 'stops it', command: `ps stop ${id}`, confirmLabel: `stops ${id}` };
}

function showOutput({ shells }: ConversationParts, id: string) {
  const found = shells.find(id);
  if (found === undefined) return createErrorOutcome(`There is no background shell ${id}.`);
  const output = found.shell.output.text();
  const markdown = formatCodeBlock([`$ ${found.command}`, output === '' ? '(no output yet)' : output].join('\n'));
  return { kind: 'show', markdown, isLive: true } as const;
}

async function stopWork({ shells, loop }: ConversationParts, id: string) {
  const shell = shells.find(id);
  if (shell?.exit !== undefined && !shell.shell.hasLeftProcesses())
    return createSuccessOutcome(`${id} had already ended.`);
  if (shell === undefined && !loop.subAgents.stop(id))
    return createErrorOutcome(`There is no background task ${id}. /ps lists them.`);
  await shell?.shell.stop();
  return createSuccessOutcome(`Stopped ${id}.`);
}

function createKindRow({ name, description, source, model, tools }: SubAgentDefinition): PanelRow {
  const details = [model, tools === undefined ? 'all tools' : tools.join(', ')].filter(
    (detail) => detail !== undefined,
  );
  return {
    id: name,
    group: 'Types',
    cells: [name, source === 'builtin' ? 'built in' : source, description],
    detail: [description, details.join(', ')],
    actions: [{ kind: 'run', key: 'enter', label: 'shows its prompt', command: `agents ${name}` }],
  };
}

function describeKind(kind: SubAgentDefinition): string {
  const { name, description, prompt, source, tools, disallowedTools, model, maxTurns } = kind;
  const options = (['effort', 'permissionMode', 'isolation', 'memory', 'color'] as const).flatMap((field) =>
    kind[field] === undefined ? [] : [`${field} ${kind[field]}`],
  );
  const facts = [
    `from ${source}`,
    tools === undefined ? 'all tools' : `tools ${tools.join(', ')}`,
    ...(disallowedTools.length === 0 ? [] : [`without ${disallowedTools.join(', ')}`]),
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(maxTurns === undefined ? [] : [`at most ${maxTurns} turns`]),
    ...options,
    ...(kind.background === true ? ['always in the background'] : []),
    ...(kind.skills === undefined ? [] : [`skills ${kind.skills.join(', ')}`]),
  ];
  return [`**${name}**: ${description}`, facts.join(', '), prompt].join('\n\n');
}
