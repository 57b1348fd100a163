import type { SystemPart } from '../contracts/model.ts';
import { languageText } from './answering.ts';
import { BASE_PROMPT } from './base-prompt.ts';
import { type PromptEnvironment, renderEnvironment } from './environment.ts';
import { type Listed, renderList } from './listed.ts';
import { type MemoryFile, renderMemory } from './memory/memory-text.ts';

/** Everything the system prompt is made of, already read; rendering only puts it in order. */
export type SystemInput = {
  /** `--system-prompt`: in place of our own words and the output style. Facts about the project stay. */
  readonly replacement?: string;
  /** `--append-system-prompt`, last of all. */
  readonly append?: string;
  readonly outputStyle?: { readonly name: string; readonly text: string };
  readonly language?: string | undefined;
  readonly memory: readonly MemoryFile[];
  readonly skills: readonly Listed[];
  readonly agents: readonly Listed[];
  readonly environment: PromptEnvironment;
  readonly mcp: readonly { readonly server: string; readonly instructions: string }[];
};

const SKILLS_CHARS = 4_000;
const AGENTS_CHARS = 2_500;
const MCP_CHARS = 4_000;

/** The system prompt from most to least stable, so that what is cached stays cached the longest. */
export function renderSystem(input: SystemInput): readonly SystemPart[] {
  const { replacement, outputStyle } = input;
  const style = replacement === undefined && outputStyle !== undefined ? outputStyleText(outputStyle) : '';
  const parts: readonly SystemPart[] = [
    { name: 'base', text: replacement ?? BASE_PROMPT },
    { name: 'output style', text: style },
    { name: 'language', text: languageText(input.language) },
    { name: 'memory', text: renderMemory(input.memory) },
    {
      name: 'skills',
      text: renderList('Skills you can load with the Skill tool when a task calls for one', input.skills, SKILLS_CHARS),
    },
    { name: 'agents', text: renderList('Kinds of sub-agents the Task tool can start', input.agents, AGENTS_CHARS) },
    { name: 'environment', text: renderEnvironment(input.environment) },
    { name: 'mcp', text: mcpText(input.mcp) },
    { name: 'appended', text: input.append ?? '' },
  ];
  return parts.filter((part) => part.text.trim() !== '');
}

/** Rendered once and kept: what changes later is told as an attachment, never by rewriting what was sent. */
export function createSystemPrompt(
  render: () => Promise<readonly SystemPart[]>,
  /** The bytes of an earlier run of this session; they are repeated instead of rendered. */
  stored?: readonly SystemPart[],
): {
  ready(): Promise<readonly SystemPart[]>;
  /** What is sent now; empty until it is ready. */
  parts(): readonly SystemPart[];
  /** After `/clear` nothing is cached any more, so the next look renders anew. */
  forget(): void;
} {
  let known = stored;
  let pending: Promise<readonly SystemPart[]> | undefined;
  const renderOnce = async () => {
    const parts = await render();
    known = parts;
    return parts;
  };
  return {
    ready: async () => {
      if (known !== undefined) return known;
      pending ??= renderOnce().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    parts: () => known ?? [],
    forget: () => {
      known = undefined;
    },
  };
}

function outputStyleText({ name, text }: { readonly name: string; readonly text: string }): string {
  return `# Output style: ${name}\nThe user chose how answers should read. Where this differs from the rules above about answering, this wins.\n\n${text.trim()}`;
}

function mcpText(servers: SystemInput['mcp']): string {
  const spoken = servers.filter((server) => server.instructions.trim() !== '');
  if (spoken.length === 0) return '';
  const each = Math.floor(MCP_CHARS / spoken.length);
  const sections = spoken.map(({ server, instructions }) => `## ${server}\n${cut(instructions.trim(), each)}`);
  return ['# What tool servers say about their tools', ...sections].join('\n\n');
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}…`;
}
