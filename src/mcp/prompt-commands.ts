import type { GetPromptResult, Prompt } from '@modelcontextprotocol/sdk/types.js';
import type { CommandInfo } from '../contracts/frontend/command.ts';
import type { ResultBlock } from '../contracts/message.ts';
import { splitArguments } from '../extensions/expand-slash-command.ts';
import { sanitizeUntrustedLine } from '../lib/text/sanitize.ts';
import { convertMcpContentBlock } from './content.ts';
import { assignMcpFullNames } from './tools.ts';

/** A server's prompt, offered as a slash command. */
export type McpServerPrompt = {
  readonly command: CommandInfo;
  readonly name: string;
  readonly arguments: readonly { readonly name: string; readonly required?: boolean }[];
};

/** Creates the slash commands of one server's prompts: `/mcp__server__prompt`. */
export function createMcpPromptCommands(
  listed: readonly Prompt[],
  { server, prefix, canComplete }: { readonly server: string; readonly prefix: string; readonly canComplete: boolean },
): readonly McpServerPrompt[] {
  const names = assignMcpFullNames(
    prefix,
    listed.map(({ name }) => name),
  );
  return listed.map((prompt, index) => {
    const hint = (prompt.arguments ?? [])
      .map(({ name, required }) =>
        required === true ? `<${sanitizeUntrustedLine(name, 40)}>` : `[${sanitizeUntrustedLine(name, 40)}]`,
      )
      .join(' ');
    return {
      name: prompt.name,
      arguments: prompt.arguments ?? [],
      command: {
        name: names[index] ?? '',
        description: sanitizeUntrustedLine(prompt.description ?? prompt.title ?? `${prompt.name} of ${server}`, 200),
        ...(hint === '' ? {} : { argumentHint: hint }),
        ...(hint === '' || !canComplete ? {} : { completes: true as const }),
        source: 'mcp',
      },
    };
  });
}

/** Parses typed arguments: words and quoted strings in order, or `name=value`; the last argument takes the rest. */
export function parseMcpPromptArguments(
  prompt: McpServerPrompt,
  typed: string,
): { readonly ok: true; readonly values: Record<string, string> } | { readonly ok: false; readonly problem: string } {
  const values = assignValues(prompt, typed);
  const missing = prompt.arguments.filter(({ name, required }) => required === true && values[name] === undefined);
  if (missing.length === 0) return { ok: true, values };
  return {
    ok: false,
    problem: `Missing arguments: ${missing.map(({ name }) => `<${sanitizeUntrustedLine(name, 40)}>`).join(' ')}.`,
  };
}

/** Assigns the typed words to the declared arguments. */
function assignValues({ arguments: declared }: McpServerPrompt, typed: string): Record<string, string> {
  const values: Record<string, string> = {};
  const positional: string[] = [];
  for (const word of splitArguments(typed)) {
    const [, name = '', value = ''] = /^([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (name !== '' && declared.some((argument) => argument.name === name)) values[name] = value;
    else positional.push(word);
  }
  const open = declared.filter(({ name }) => values[name] === undefined);
  open.forEach(({ name }, index) => {
    const words = index === open.length - 1 ? positional.slice(index) : positional.slice(index, index + 1);
    if (words.length > 0) values[name] = words.join(' ');
  });
  return values;
}

/** The argument being typed, its text so far, and the arguments before it. */
export type TypedPromptArgument = {
  readonly name: string;
  readonly value: string;
  readonly previous: Readonly<Record<string, string>>;
  /** Formats a completed value as it would be typed: named and quoted as needed. */
  readonly formatValue: (value: string) => string;
};

/** Finds the argument being typed; after a space that is the next one. */
export function findTypedMcpPromptArgument(prompt: McpServerPrompt, typed: string): TypedPromptArgument | undefined {
  const [last = ''] = /(?:(?<![\w-])[\w-]+=)?"[^"]*$|(?<!\S)\S*$/.exec(typed) ?? [];
  const before = typed.slice(0, typed.length - last.length);
  const values = assignValues(prompt, before);
  const [, prefixName = '', rest = last] = /^([\w-]+)=(.*)$/s.exec(last) ?? [];
  const isNamed = prompt.arguments.some((argument) => argument.name === prefixName);
  // Without a name it is the first declared argument that has no value yet.
  const name = isNamed ? prefixName : prompt.arguments.find((argument) => values[argument.name] === undefined)?.name;
  if (name === undefined) return undefined;
  const value = (isNamed ? rest : last).replace(/^"/, '');
  const quote = (text: string) => (/\s/.test(text) ? `"${text.replaceAll('"', '')}"` : text);
  return {
    name,
    value,
    previous: values,
    formatValue: (text) => (isNamed ? `${prefixName}=${quote(text)}` : quote(text)),
  };
}

/** Converts a prompt into the blocks of one user message; assistant messages are marked as examples. */
export function convertMcpPromptResult({ messages }: GetPromptResult): readonly ResultBlock[] {
  return messages.flatMap(({ role, content }) => {
    const blocks = convertMcpContentBlock(content);
    if (role === 'user') return blocks;
    return [{ type: 'text', text: 'An answer given as an example:' } as const, ...blocks];
  });
}
