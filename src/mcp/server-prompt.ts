import type { GetPromptResult, Prompt } from '@modelcontextprotocol/sdk/types.js';
import type { CommandInfo } from '../contracts/face/command.ts';
import type { ResultBlock } from '../contracts/message.ts';
import { untrustedLine } from '../lib/text/sanitize.ts';
import { typedWords } from '../lib/typed-words.ts';
import { blocksOf } from './content.ts';
import { fullNames } from './names.ts';

/** A prompt of a server, offered as a slash command. */
export type ServerPrompt = {
  readonly command: CommandInfo;
  readonly name: string;
  readonly arguments: readonly { readonly name: string; readonly required?: boolean }[];
};

/** The prompts of one server as `/mcp__server__prompt`. */
export function toPrompts(
  listed: readonly Prompt[],
  { server, prefix, canComplete }: { readonly server: string; readonly prefix: string; readonly canComplete: boolean },
): readonly ServerPrompt[] {
  const names = fullNames(
    prefix,
    listed.map(({ name }) => name),
  );
  return listed.map((prompt, at) => {
    const hint = (prompt.arguments ?? [])
      .map(({ name, required }) =>
        required === true ? `<${untrustedLine(name, 40)}>` : `[${untrustedLine(name, 40)}]`,
      )
      .join(' ');
    return {
      name: prompt.name,
      arguments: prompt.arguments ?? [],
      command: {
        name: names[at] ?? '',
        description: untrustedLine(prompt.description ?? prompt.title ?? `${prompt.name} of ${server}`, 200),
        ...(hint === '' ? {} : { argumentHint: hint }),
        ...(hint === '' || !canComplete ? {} : { completes: true as const }),
        source: 'mcp',
      },
    };
  });
}

/** Arguments as typed: words and quoted words in order, or `name=value`; the last one takes what is left. */
export function readArguments(
  prompt: ServerPrompt,
  typed: string,
): { readonly ok: true; readonly values: Record<string, string> } | { readonly ok: false; readonly why: string } {
  const { values } = spread(prompt, typed);
  const missing = prompt.arguments.filter(({ name, required }) => required === true && values[name] === undefined);
  if (missing.length === 0) return { ok: true, values };
  return { ok: false, why: `Give it ${missing.map(({ name }) => `<${untrustedLine(name, 40)}>`).join(' ')}.` };
}

/** The words that were typed, given out to the arguments. */
function spread({ arguments: declared }: ServerPrompt, typed: string): { readonly values: Record<string, string> } {
  const values: Record<string, string> = {};
  const positional: string[] = [];
  for (const word of typedWords(typed)) {
    const [, name = '', value = ''] = /^([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (name !== '' && declared.some((argument) => argument.name === name)) values[name] = value;
    else positional.push(word);
  }
  const open = declared.filter(({ name }) => values[name] === undefined);
  open.forEach(({ name }, at) => {
    const words = at === open.length - 1 ? positional.slice(at) : positional.slice(at, at + 1);
    if (words.length > 0) values[name] = words.join(' ');
  });
  return { values };
}

/** The argument that the last word belongs to, what is written of it, and those before it. */
export type OpenArgument = {
  readonly name: string;
  readonly value: string;
  readonly given: Readonly<Record<string, string>>;
  /** A whole word for a value, as it would be written there. */
  readonly wordFor: (value: string) => string;
};

/** Which argument is being written; behind a blank it is the next one. */
export function openArgument(prompt: ServerPrompt, typed: string): OpenArgument | undefined {
  const [last = ''] = /(?:[\w-]+=)?"[^"]*$|\S*$/.exec(typed) ?? [];
  const before = typed.slice(0, typed.length - last.length);
  const { values } = spread(prompt, before);
  const [, named = '', rest = last] = /^([\w-]+)=(.*)$/s.exec(last) ?? [];
  const isNamed = prompt.arguments.some((argument) => argument.name === named);
  // Of the words in order the last argument takes all that is left.
  const name = isNamed ? named : prompt.arguments.find((argument) => values[argument.name] === undefined)?.name;
  if (name === undefined) return undefined;
  const value = (isNamed ? rest : last).replace(/^"/, '');
  const quoted = (text: string) => (/\s/.test(text) ? `"${text.replaceAll('"', '')}"` : text);
  return { name, value, given: values, wordFor: (text) => (isNamed ? `${named}=${quoted(text)}` : quoted(text)) };
}

/** What a prompt says, as one message. Words the server puts into the assistant's mouth are marked as such. */
export function promptBlocks({ messages }: GetPromptResult): readonly ResultBlock[] {
  return messages.flatMap(({ role, content }) => {
    const blocks = blocksOf(content);
    if (role === 'user') return blocks;
    return [{ type: 'text', text: 'An answer given as an example:' } as const, ...blocks];
  });
}
