import type { PromptTemplate } from '../../contracts/extension.ts';
import type { CommandInfo, SlashCommandOutcome, SlashCommandView } from '../../contracts/frontend/command.ts';
import { joinTextBlocks, type UserBlock } from '../../contracts/message.ts';
import { findSkill } from '../../extensions/load-skills.ts';
import type { HookDispatcher } from '../../hooks/create-hooks.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';
import { saveUserSetting } from '../../settings/edit-settings.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import { BACKGROUND_SLASH_COMMANDS } from './background-commands.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createPlainTextOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';
import {
  COMPATIBILITY_ALIASES,
  COMPATIBILITY_SLASH_COMMANDS,
  FOREIGN_COMMAND_HINTS,
} from './compatibility-commands.ts';
import { CONFIG_SLASH_COMMAND } from './config-command.ts';
import { CONVERSATION_SLASH_COMMANDS } from './conversation-commands.ts';
import { DIFF_SLASH_COMMAND } from './diff-command.ts';
import { EXTENSION_SLASH_COMMANDS } from './extension-commands.ts';
import { IDE_SLASH_COMMAND } from './ide-command.ts';
import { MCP_SLASH_COMMANDS } from './mcp-command.ts';
import { MEMORY_SLASH_COMMAND } from './memory-command.ts';
import { LOGIN_SLASH_COMMANDS, MODEL_SLASH_COMMANDS } from './model-commands.ts';
import { PERMISSION_SLASH_COMMANDS } from './permission-commands.ts';
import { SESSION_SLASH_COMMANDS } from './session-commands.ts';
import { CONTEXT_SLASH_COMMANDS, STATUS_SLASH_COMMANDS } from './status-commands.ts';

const createViewCommand = (
  name: SlashCommandView,
  description: string,
  ...aliases: readonly string[]
): BuiltinSlashCommand => ({
  name,
  description,
  ...(aliases.length === 0 ? {} : { aliases }),
  screenOnly: true,
  run: async (argument) => ({ kind: 'open', view: name, argument }),
});

/** Commands that open a view of the frontend. */
const VIEW_COMMANDS: readonly BuiltinSlashCommand[] = [
  createViewCommand('help', 'show keys and commands'),
  createViewCommand('resume', 'open another session', 'continue', 'sessions'),
  createViewCommand('rewind', 'rewind the conversation, the files or both', 'checkpoint'),
  createViewCommand('theme', 'choose the theme'),
  createViewCommand('transcript', 'show the full transcript'),
  { ...createViewCommand('copy', 'copy a reply or its code to the clipboard'), argumentHint: '[n | code]' },
  createViewCommand('redraw', 'redraw the last turns at the current width'),
  createViewCommand('tasks', 'show the task list', 'todos'),
  createViewCommand('vim', 'switch vim mode on or off'),
  createViewCommand('exit', 'exit ouro', 'quit'),
];

/** Commands for the look of the screen. */
const SCREEN_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'statusline',
    screenOnly: true,
    description: 'render the status line with a command',
    argumentHint: '[command | off]',
    async run(args, { core: { environment, settings } }) {
      const command = args.trim();
      const current = settings.current().statusLine?.command;
      if (command === '') {
        return current === undefined
          ? createMarkdownOutcome(
              'The default status line is shown. `/statusline <command>` replaces it with the output of a command.',
            )
          : createPlainTextOutcome(current);
      }
      const isOff = command === 'off';
      try {
        await saveUserSetting(environment.ouroHome, 'statusLine', isOff ? undefined : { type: 'command', command });
      } catch (thrown) {
        return createErrorOutcome(getErrorMessage(thrown));
      }
      await settings.refresh();
      return createSuccessOutcome(
        isOff ? 'Default status line restored.' : `The status line shows the output of: ${command}`,
      );
    },
  },
];

const MCP_PROMPT_TIMEOUT_MS = 60_000;
const COMPLETION_TIMEOUT_MS = 3_000;

const BUILT_IN: readonly BuiltinSlashCommand[] = [
  ...VIEW_COMMANDS,
  ...SCREEN_COMMANDS,
  ...STATUS_SLASH_COMMANDS,
  ...CONTEXT_SLASH_COMMANDS,
  MEMORY_SLASH_COMMAND,
  CONFIG_SLASH_COMMAND,
  DIFF_SLASH_COMMAND,
  ...BACKGROUND_SLASH_COMMANDS,
  ...EXTENSION_SLASH_COMMANDS,
  ...MODEL_SLASH_COMMANDS,
  ...LOGIN_SLASH_COMMANDS,
  ...PERMISSION_SLASH_COMMANDS,
  ...MCP_SLASH_COMMANDS,
  IDE_SLASH_COMMAND,
  ...CONVERSATION_SLASH_COMMANDS,
  ...SESSION_SLASH_COMMANDS,
];

/** The groups of the command menu, and the built-in commands of each, most used first. */
const GROUPS: readonly (readonly [label: string, names: string])[] = [
  ['Conversation', 'clear resume compact rewind copy btw rename branch export transcript tasks redraw help exit'],
  ['Work', 'plan review security-review diff undo redo init memory'],
  ['Model', 'model effort output-style login logout'],
  ['Usage', 'context cost cache timeline status doctor'],
  ['Permissions', 'permissions add-dir trust sandbox why'],
  ['Tools', 'mcp ide agents ps skills hooks plugin'],
  ['Settings', 'config theme statusline vim import'],
];

const GROUP_BY_NAME = new Map(
  GROUPS.flatMap(([label, names]) => names.split(' ').map((name) => ({ label, name }))).map(
    ({ label, name }, position) => [name, { label, position }] as const,
  ),
);

/** Returns the group of a built-in command, and its position among all of them. */
function getCommandGroup(name: string): CommandInfo['group'] {
  return GROUP_BY_NAME.get(name);
}

/** Lists all slash commands: built-in ones, commands from files, skills and MCP prompts. */
function listCommands({ core, mcp }: ConversationParts): readonly CommandInfo[] {
  const extensions = core.extensions.current();
  const builtIn = BUILT_IN.map(describeBuiltIn);
  const isForPeople = ({ callers }: PromptTemplate) => callers !== 'model';
  const custom = extensions.commands.filter(isForPeople).map(({ name, description, source, argumentHint }) => ({
    name,
    description,
    source: source === 'project' ? ('project' as const) : ('user' as const),
    ...(argumentHint === undefined ? {} : { argumentHint }),
  }));
  const customNames = new Set([
    ...custom.map(({ name }) => name),
    ...extensions.skills.filter(isForPeople).map(({ slashName }) => slashName),
  ]);
  const familiar = COMPATIBILITY_SLASH_COMMANDS.filter(({ name }) => !customNames.has(name)).map(describeBuiltIn);
  const takenNames = new Set([...builtIn, ...custom, ...familiar].map(({ name }) => name));
  const skills = extensions.skills
    .filter((skill) => isForPeople(skill) && !takenNames.has(skill.slashName))
    .map(({ slashName: name, description, argumentHint }) => ({
      name,
      description,
      source: 'skill' as const,
      ...(argumentHint === undefined ? {} : { argumentHint }),
    }));
  return [...builtIn, ...custom, ...familiar, ...skills, ...mcp.hub.listPrompts()].toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

/** Lists the slash commands that a frontend offers: all on a screen, elsewhere those that work without one. */
export function listOfferedCommands(parts: ConversationParts): readonly CommandInfo[] {
  const commands = listCommands(parts);
  return parts.core.options.frontend === 'screen' ? commands : commands.filter(({ screenOnly }) => screenOnly !== true);
}

function describeBuiltIn({ run: _, ...info }: BuiltinSlashCommand): CommandInfo {
  const group = getCommandGroup(info.name);
  return { ...info, source: 'builtin', ...(group === undefined ? {} : { group }) };
}

/** Reports whether a slash command is known: listed, or familiar from other assistants. */
export function isKnownCommand(name: string, parts: ConversationParts): boolean {
  if (Object.hasOwn(COMPATIBILITY_ALIASES, name) || Object.hasOwn(FOREIGN_COMMAND_HINTS, name)) return true;
  return listCommands(parts).some((command) => command.name === name || command.aliases?.includes(name));
}

/** Runs a command line without the slash. A command with an empty prompt fails instead of sending it. */
export async function executeSlashCommand(line: string, parts: ConversationParts): Promise<SlashCommandOutcome> {
  const [, name = '', args = ''] = /^(\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  const outcome = await runNamed(name, args, parts);
  const isEmpty =
    outcome.kind === 'prompt' && !outcome.blocks.some((block) => block.type !== 'text' || block.text.trim() !== '');
  if (isEmpty)
    return { kind: 'failed', message: `/${name} has an empty prompt, so nothing was sent. Check its source.` };
  if (outcome.kind !== 'prompt' || name === 'plan') return outcome;
  const { newId, now } = parts.core;
  const at = new Date(now()).toISOString();
  return {
    ...outcome,
    message: { role: 'user', id: newId(), origin: 'prompt', blocks: outcome.blocks, command: `/${line.trim()}`, at },
  };
}

/** Completes the last argument of a command line. Only MCP servers provide completions. */
export async function completeSlashCommandArgument(
  line: string,
  { mcp }: ConversationParts,
): Promise<readonly string[]> {
  const [, name = '', typed = ''] = /^(\S+)\s([\s\S]*)$/.exec(line) ?? [];
  return mcp.hub.completeArguments(name, typed, AbortSignal.timeout(COMPLETION_TIMEOUT_MS));
}

/** Runs a command by name. Built-in names take precedence over files, and files over aliases and familiar commands. */
async function runNamed(name: string, args: string, parts: ConversationParts): Promise<SlashCommandOutcome> {
  const builtIn = BUILT_IN.find((command) => command.name === name);
  if (builtIn !== undefined) return builtIn.run(args, parts);
  await parts.core.extensions.refresh();
  const { commands, skills } = parts.core.extensions.current();
  const callable = commands.find((command) => command.name === name) ?? findSkill(skills, name);
  if (callable !== undefined) return runCallable(callable, args, parts);
  const target = Object.hasOwn(COMPATIBILITY_ALIASES, name) ? COMPATIBILITY_ALIASES[name] : name;
  // Many people have commands of their own with these names, for example /review; theirs take precedence.
  const aliased = [...COMPATIBILITY_SLASH_COMMANDS, ...BUILT_IN].find(
    (command) => command.name === target || command.aliases?.includes(name),
  );
  if (aliased !== undefined) return aliased.run(args, parts);
  const hint = Object.hasOwn(FOREIGN_COMMAND_HINTS, name) ? FOREIGN_COMMAND_HINTS[name] : undefined;
  if (hint !== undefined) return { kind: 'failed', message: hint };
  if (name.startsWith('mcp__')) return runMcpPrompt(name, args, parts);
  const suggestion = findClosestWord(
    name,
    listCommands(parts).map((command) => command.name),
  );
  return {
    kind: 'failed',
    message: `Unknown command /${name}.${suggestion === undefined ? ' Type / to list the commands.' : ` Did you mean /${suggestion}?`}`,
  };
}

/** Runs a prompt of an MCP server: its content is sent to the model. */
async function runMcpPrompt(
  name: string,
  args: string,
  { mcp, hooks }: ConversationParts,
): Promise<SlashCommandOutcome> {
  const timeout = AbortSignal.timeout(MCP_PROMPT_TIMEOUT_MS);
  const answer = await mcp.hub.runPrompt(name, args, timeout).catch((thrown: unknown) => ({
    ok: false as const,
    problem: getErrorMessage(thrown),
  }));
  if (!answer.ok) return { kind: 'failed', message: answer.problem };
  return createPrompt({ type: 'mcp_prompt', name, args }, answer.blocks, hooks);
}

async function runCallable(
  callable: PromptTemplate,
  args: string,
  { loop, hooks }: ConversationParts,
): Promise<SlashCommandOutcome> {
  if (callable.callers === 'model')
    return { kind: 'failed', message: `Only the model can invoke the skill ${callable.name}.` };
  const blocks = [{ type: 'text' as const, text: await loop.skills.createPrompt(callable, args) }];
  return createPrompt({ type: 'slash_command', name: callable.name, args, source: callable.source }, blocks, hooks);
}

type Expansion = {
  readonly type: 'slash_command' | 'mcp_prompt';
  readonly name: string;
  readonly args: string;
  readonly source?: string;
};

const HOOK_TIMEOUT_MS = 60_000;

/** Creates the prompt outcome of a command. A UserPromptExpansion hook can refuse it or add context. */
async function createPrompt(
  { type, name, args, source }: Expansion,
  blocks: readonly UserBlock[],
  hooks: HookDispatcher,
): Promise<SlashCommandOutcome> {
  if (!hooks.has('UserPromptExpansion')) return { kind: 'prompt', blocks };
  const prompt = joinTextBlocks(blocks, '\n');
  const input = { expansion_type: type, command_name: name, command_args: args, prompt };
  const fields = source === undefined ? input : { ...input, command_source: source };
  const { blocked, stop, context } = await hooks.fire(
    'UserPromptExpansion',
    fields,
    AbortSignal.timeout(HOOK_TIMEOUT_MS),
  );
  const refusal = blocked ?? stop;
  if (refusal !== undefined) return { kind: 'failed', message: refusal };
  return { kind: 'prompt', blocks: context === undefined ? blocks : [...blocks, { type: 'text', text: context }] };
}
