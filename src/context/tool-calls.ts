import { isJsonObject } from '../contracts/json.ts';
import { joinTextBlocks, type Message, type ToolResultBlock, type ToolUseBlock } from '../contracts/message.ts';
import { formatBytes, formatCount, truncate } from '../lib/text/format.ts';

/** Describes a tool call in a few words: `Read src/a.ts`, `Bash npm test`. */
export function describeToolCall(call: Pick<ToolUseBlock, 'name' | 'input'>): string {
  const subject = getSubject(call);
  return subject === '' ? call.name : `${call.name} ${subject}`;
}

const SUBJECTS = ['file_path', 'notebook_path', 'pattern', 'command', 'url', 'query', 'path', 'description', 'name'];
const SUBJECT_CHARS = 100;

function getSubject({ input }: Pick<ToolUseBlock, 'input'>): string {
  if (!isJsonObject(input)) return '';
  for (const key of SUBJECTS) {
    const value = input[key];
    if (typeof value === 'string' && value.trim() !== '') return shorten(value);
  }
  return '';
}

function shorten(value: string): string {
  const line = value.replace(/\s+/g, ' ').trim();
  return truncate(line, SUBJECT_CHARS);
}

const FILE_KEYS = ['file_path', 'notebook_path'];

/** Returns the file that a call names. */
export function getToolCallFilePath({ input }: Pick<ToolUseBlock, 'input'>): string | undefined {
  if (!isJsonObject(input)) return undefined;
  return FILE_KEYS.map((key) => input[key]).find((value): value is string => typeof value === 'string');
}

/** Describes the size of a result: `812 lines, 31 KB`. */
export function describeToolResultSize(result: ToolResultBlock): string {
  const text = getToolResultText(result);
  const media = typeof result.content === 'string' ? 0 : result.content.filter((part) => part.type !== 'text').length;
  const textSize = text === '' ? [] : [`${formatCount(text.split('\n').length, 'line')}, ${formatBytes(text.length)}`];
  return [...textSize, ...(media === 0 ? [] : [formatCount(media, 'picture or document')])].join(', ');
}

/** Returns the text of a result, without images and documents. */
export function getToolResultText(result: ToolResultBlock): string {
  if (typeof result.content === 'string') return result.content;
  return joinTextBlocks(result.content, '\n');
}

/** Lists the calls of a message. */
export function listToolCalls(message: Message): readonly ToolUseBlock[] {
  return message.role === 'assistant' ? message.blocks.filter((block) => block.type === 'tool_use') : [];
}

/** Lists the tool results of a message. */
export function listToolResults(message: Message): readonly ToolResultBlock[] {
  return message.role === 'user' ? message.blocks.filter((block) => block.type === 'tool_result') : [];
}
