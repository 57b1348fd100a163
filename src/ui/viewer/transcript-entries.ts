import type { AssistantBlock, ToolResultBlock, ToolUseBlock, UserMessage } from '../../contracts/message.ts';
import { formatClock, formatTokens } from '../../lib/text/format.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { type CalledAs, callTitle, commandLines, toolTitle } from '../history/call-title.ts';
import { markdownLines, withTime } from '../history/history-lines.ts';
import { outputLines } from '../history/output-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { typedWords } from '../view/typed-words.ts';
import type { Shown, ViewerPage } from '../view/viewer-state.ts';

/** A part of the transcript: its lines, and the text of it that is worth copying. */
export type PageEntry = {
  readonly lines: readonly LogicalLine[];
  readonly block: string;
  readonly mark: 'start' | 'inside';
  readonly call?: string;
};

type Transcript = Pick<Extract<ViewerPage, { kind: 'transcript' }>, 'messages' | 'titleOf'>;

const FOLDED_LINES = 3;

/** Everything that was said, in order: prompts begin turns, results stand under their calls. */
export function transcriptEntries(
  { messages, titleOf = () => '' }: Transcript,
  shown: Shown,
  drawing: Drawing,
): readonly PageEntry[] {
  const results = new Map<string, ToolResultBlock>();
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of message.blocks) if (block.type === 'tool_result') results.set(block.tool_use_id, block);
  }
  return messages.flatMap((message): readonly PageEntry[] => {
    switch (message.role) {
      case 'boundary':
        return [
          entry('', terminalLine(toned('dim', `Room was made here, at ${formatTokens(message.preTokens)} tokens.`))),
        ];
      case 'custom':
        return [];
      case 'user':
        return userEntries(message, drawing);
      default:
        return message.blocks.flatMap((block) =>
          assistantEntries(block, message.at, { results, titleOf }, shown, drawing),
        );
    }
  });
}

function userEntries({ origin, blocks, at }: UserMessage, { glyphs }: Drawing): readonly PageEntry[] {
  if (origin === 'results' || origin === 'attachment') return [];
  const text = typedWords(blocks);
  if (text.trim() === '') return [];
  const isTyped = origin === 'prompt' || origin === 'steer' || origin === 'follow_up';
  const lines = sanitizeScreen(text)
    .split('\n')
    .map((line, row) =>
      terminalLine(
        toned(isTyped ? 'user' : 'dim', `${row === 0 ? (isTyped ? glyphs.user : '#') : ' '} ${line}`.trimEnd()),
      ),
    );
  return [{ lines: [terminalLine(), ...withTime(lines, at)], block: text, mark: isTyped ? 'start' : 'inside' }];
}

type Calls = {
  readonly results: ReadonlyMap<string, ToolResultBlock>;
  readonly titleOf: NonNullable<Transcript['titleOf']>;
};

function assistantEntries(
  block: AssistantBlock,
  at: string | undefined,
  { results, titleOf }: Calls,
  shown: Shown,
  drawing: Drawing,
): readonly PageEntry[] {
  switch (block.type) {
    case 'text':
      return [
        entry(
          block.text,
          terminalLine(toned('dim', formatClock(at))),
          ...markdownLines(block.text, drawing),
          ...cutLines(block),
        ),
      ];
    case 'thinking': {
      if (shown.thinking === 'hidden' || block.thinking.trim() === '') return [];
      const lines = sanitizeScreen(block.thinking).split('\n');
      return [entry(block.thinking, terminalLine(), ...lines.map((line) => terminalLine(toned('dim', line))))];
    }
    case 'tool_use': {
      const { id, input } = block;
      const result = results.get(id);
      const call = calledAs(block, titleOf);
      const head = terminalLine(
        result?.is_error === true ? toned('error', drawing.glyphs.failed) : toned('ok', drawing.glyphs.done),
        plain(' '),
        ...toolTitle(call, drawing.cwd),
      );
      const script = outputLines(commandLines(call).slice(1), drawing.glyphs.output);
      const text = result === undefined ? '' : resultText(result);
      const body = bodyLines(text, shown.call === id ? 'open' : shown.bodies, drawing);
      const words = text === '' ? (block.unparsed ?? JSON.stringify(input)) : text;
      return [{ ...entry(words, terminalLine(), head, ...script, ...body), call: id }];
    }
    default:
      return [];
  }
}

/** A call as its line is written; what could not be read of its input stands as it came. */
function calledAs({ id, name, input, unparsed }: ToolUseBlock, titleOf: Calls['titleOf']): CalledAs {
  const known = unparsed === undefined ? titleOf(name, input) : '';
  const title = known === '' ? `${name} ${unparsed ?? callTitle(input)}`.trim() : known;
  return { callId: id, tool: name, title, input, by: 'model' };
}

function cutLines({ cut }: { readonly cut?: boolean }): readonly LogicalLine[] {
  return cut === true ? [terminalLine(toned('warn', '… the answer was cut off here'))] : [];
}

function bodyLines(text: string, bodies: Shown['bodies'], { glyphs }: Drawing): readonly LogicalLine[] {
  const rows = sanitizeScreen(text).replace(/\n+$/, '').split('\n');
  if (rows.length === 1 && rows[0] === '') return [];
  if (bodies === 'open' || rows.length <= FOLDED_LINES + 1) return outputLines(rows, glyphs.output);
  const rest = terminalLine(
    toned('dim', `${glyphs.output} ${glyphs.more} ${rows.length - FOLDED_LINES} more lines (o)`),
  );
  return [...outputLines(rows.slice(0, FOLDED_LINES), glyphs.output), rest];
}

function resultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

function entry(block: string, ...lines: readonly LogicalLine[]): PageEntry {
  return { lines, block, mark: 'inside' };
}
