import type { Callable } from '../../contracts/extension.ts';
import type { CommandInfo, CommandOutcome } from '../../contracts/face/command.ts';
import type { UserBlock } from '../../contracts/message.ts';
import { findSkill } from '../../extensions/load-skills.ts';
import type { HookFire } from '../../hooks/create-hooks.ts';
import { messageOf } from '../../lib/errors.ts';
import { nearest } from '../../lib/text/nearest.ts';
import type { BuiltinCommand } from './builtin-command.ts';
import { CHANGE_COMMANDS } from './change-commands.ts';
import { CONFIG_COMMAND } from './config-command.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { DIFF_COMMAND } from './diff-command.ts';
import { KEY_COMMANDS } from './key-commands.ts';
import { LOOK_COMMANDS } from './look-commands.ts';
import { LOOK_PANELS } from './look-panels.ts';
import { MCP_COMMANDS } from './mcp-commands.ts';
import { MEMORY_COMMAND } from './memory-command.ts';
import { MODEL_COMMANDS } from './model-commands.ts';
import { PERMISSION_COMMANDS } from './permission-commands.ts';
import { PLUGIN_COMMAND } from './plugin-command.ts';
import { SCREEN_COMMANDS, VIEW_COMMANDS } from './screen-commands.ts';
import { SESSION_COMMANDS } from './session-commands.ts';
import { WORK_COMMANDS } from './work-commands.ts';

const PROMPT_MS = 60_000;
const COMPLETE_MS = 3_000;

const BUILT_IN: readonly BuiltinCommand[] = [
  ...VIEW_COMMANDS,
  ...SCREEN_COMMANDS,
  ...LOOK_COMMANDS,
  ...LOOK_PANELS,
  MEMORY_COMMAND,
  CONFIG_COMMAND,
  DIFF_COMMAND,
  ...WORK_COMMANDS,
  PLUGIN_COMMAND,
  ...MODEL_COMMANDS,
  ...KEY_COMMANDS,
  ...PERMISSION_COMMANDS,
  ...MCP_COMMANDS,
  ...CHANGE_COMMANDS,
  ...SESSION_COMMANDS,
];

/** Every command that can be typed here: ours, those of files, and skills by their name. */
export function listCommands({ core, mcp }: ConversationParts): readonly CommandInfo[] {
  const extensions = core.extensions.now();
  const own = BUILT_IN.map(({ run: _, ...about }) => ({ ...about, source: 'builtin' as const }));
  const isForPeople = ({ callers }: Callable) => callers !== 'model';
  const custom = extensions.commands.filter(isForPeople).map(({ name, description, source, argumentHint }) => ({
    name,
    description,
    source: source === 'project' ? ('project' as const) : ('user' as const),
    ...(argumentHint === undefined ? {} : { argumentHint }),
  }));
  const taken = new Set([...own, ...custom].map(({ name }) => name));
  const skills = extensions.skills
    .filter((skill) => isForPeople(skill) && !taken.has(skill.slashName))
    .map(({ slashName: name, description, argumentHint }) => ({
      name,
      description,
      source: 'skill' as const,
      ...(argumentHint === undefined ? {} : { argumentHint }),
    }));
  return [...own, ...custom, ...skills, ...mcp.hub.prompts()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Runs a line without its slash. A command that has nothing to say to the model asks it nothing. */
export async function runCommand(line: string, parts: ConversationParts): Promise<CommandOutcome> {
  const [, name = '', args = ''] = /^(\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  const outcome = await runNamed(name, args, parts);
  const isEmpty =
    outcome.kind === 'prompt' && !outcome.blocks.some((block) => block.type !== 'text' || block.text.trim() !== '');
  return isEmpty
    ? { kind: 'failed', words: `/${name} says nothing, so nothing was asked. Look at where it comes from.` }
    : outcome;
}

/** How the last word of a line could go on; the servers of prompts know that. */
export async function completeArgument(line: string, { mcp }: ConversationParts): Promise<readonly string[]> {
  const [, name = '', typed = ''] = /^(\S+)\s([\s\S]*)$/.exec(line) ?? [];
  return mcp.hub.completions(name, typed, AbortSignal.timeout(COMPLETE_MS));
}

/** Built-in names win over files, files over the other names of what is built in. */
async function runNamed(name: string, args: string, parts: ConversationParts): Promise<CommandOutcome> {
  const own = BUILT_IN.find((command) => command.name === name);
  if (own !== undefined) return own.run(args, parts);
  await parts.core.extensions.refresh();
  const { commands, skills } = parts.core.extensions.now();
  const called = commands.find((command) => command.name === name) ?? findSkill(skills, name);
  if (called !== undefined) return runCallable(called, args, parts);
  const other = BUILT_IN.find(({ aliases }) => aliases?.includes(name));
  if (other !== undefined) return other.run(args, parts);
  if (name.startsWith('mcp__')) return runPrompt(name, args, parts);
  const close = nearest(
    name,
    listCommands(parts).map((command) => command.name),
  );
  return {
    kind: 'failed',
    words: `There is no command /${name}.${close === undefined ? ' / shows what there is.' : ` Did you mean /${close}?`}`,
  };
}

/** A prompt that a server offers: what it says is said to the model. */
async function runPrompt(name: string, args: string, { mcp, hooks }: ConversationParts): Promise<CommandOutcome> {
  const limit = AbortSignal.timeout(PROMPT_MS);
  const answer = await mcp.hub.prompt(name, args, limit).catch((thrown: unknown) => ({
    ok: false as const,
    why: messageOf(thrown),
  }));
  if (!answer.ok) return { kind: 'failed', words: answer.why };
  return expanded({ type: 'mcp_prompt', name, args }, answer.blocks, hooks);
}

async function runCallable(
  called: Callable,
  args: string,
  { loop, hooks }: ConversationParts,
): Promise<CommandOutcome> {
  if (called.callers === 'model') return { kind: 'failed', words: `${called.name} is a skill the model alone calls.` };
  const blocks = [{ type: 'text' as const, text: await loop.skills.said(called, args) }];
  return expanded({ type: 'slash_command', name: called.name, args, source: called.source }, blocks, hooks);
}

type Expansion = {
  readonly type: 'slash_command' | 'mcp_prompt';
  readonly name: string;
  readonly args: string;
  readonly source?: string;
};

const HOOK_MS = 60_000;

/** What a command comes to; a hook may refuse it, or add words. */
async function expanded(
  { type, name, args, source }: Expansion,
  blocks: readonly UserBlock[],
  hooks: HookFire,
): Promise<CommandOutcome> {
  if (!hooks.has('UserPromptExpansion')) return { kind: 'prompt', blocks };
  const prompt = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const about = { expansion_type: type, command_name: name, command_args: args, prompt };
  const fields = source === undefined ? about : { ...about, command_source: source };
  const { blocked, stop, context } = await hooks.fire('UserPromptExpansion', fields, AbortSignal.timeout(HOOK_MS));
  const objection = blocked ?? stop;
  if (objection !== undefined) return { kind: 'failed', words: objection };
  return { kind: 'prompt', blocks: context === undefined ? blocks : [...blocks, { type: 'text', text: context }] };
}
