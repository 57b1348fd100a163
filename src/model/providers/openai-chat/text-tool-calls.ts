import type { JsonObject } from '../../../contracts/json.ts';
import { narrowToObject, narrowToObjects, narrowToString, parseNetworkJson } from '../../stream/json-values.ts';

/** A tool call that a model wrote as text, because its server did not parse it. */
export type TextToolCall = { readonly name: string; readonly json: string };

/** The held-back text of a reply: plain text, or calls of offered tools. */
export type HeldBackReplyText = { readonly text: string; readonly calls: readonly TextToolCall[] };

/**
 * Creates a splitter for the text of a reply. Tool calls are recognized only if nothing but calls follows until the end
 * and each names an offered tool, so that an example within an explanation remains text.
 */
export function createTextToolCallSplitter(tools: ReadonlySet<string>) {
  let held = '';
  let lineIsBlank = true;
  let isCode = false;

  /** Adds text; returns the part that cannot belong to a tool call. */
  function push(text: string): string {
    if (tools.size === 0) return text;
    held += text;
    let plainText = '';
    while (held !== '' && !canStartCall()) {
      const blanks = lineIsBlank && !isCode ? held.length - held.trimStart().length : 0;
      // Blank lines are passed on together: each was looked at already.
      const end = held.lastIndexOf('\n', blanks - 1) + 1 || held.indexOf('\n') + 1;
      const line = end === 0 ? held : held.slice(0, end);
      // An incomplete line may still become a code fence.
      if (lineIsBlank && end === 0 && PARTIAL_FENCE.test(line)) return plainText;
      if (lineIsBlank && FENCE.test(line)) isCode = !isCode;
      lineIsBlank = end !== 0 || (lineIsBlank && line.trim() === '');
      plainText += line;
      held = held.slice(line.length);
    }
    return plainText;
  }

  /** Returns true if the held text starts a line with a call marker or a prefix of one. */
  function canStartCall(): boolean {
    if (!lineIsBlank || isCode) return false;
    const lineStart = held.trimStart();
    if (lineStart === '') return false;
    return CALL_MARKERS.some((marker) => lineStart.startsWith(marker) || marker.startsWith(lineStart));
  }

  return {
    push,
    /** Ends the text; returns the part held back as a possible tool call. */
    flush(): HeldBackReplyText {
      const text = held;
      held = '';
      const calls = parseCalls(text.trim());
      if (calls?.every(({ name }) => tools.has(name))) return { text: '', calls };
      return { text: HARMONY_ANSWER.exec(text.trimEnd())?.[1] ?? text, calls: [] };
    },
  };
}

const FENCE = /^\s*(?:```|~~~)/;
const PARTIAL_FENCE = /^\s*(?:`{1,2}|~{1,2})?$/;

/** The answer in the Harmony format, which has its own channel. */
const HARMONY_ANSWER =
  /^\s*(?:<\|channel\|>analysis<\|message\|>[\s\S]*?<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>([\s\S]*?)(?:<\|return\|>|<\|end\|>)?$/;

/** One syntax for tool calls in text: its start marker, and a pattern that matches a call at the start of the text. */
type CallSyntax = {
  readonly marker: string;
  readonly pattern: RegExp;
  readonly read: (found: RegExpExecArray) => readonly TextToolCall[] | undefined;
};

const readJsonCalls = ([, body = '']: RegExpExecArray) => parseJsonCalls(body);
const readTaggedCall = ([, name = '', body = '']: RegExpExecArray) => [
  { name, json: JSON.stringify(parseParameters(body)) },
];
const readNamedCall = ([, name = '', json = '']: RegExpExecArray) =>
  narrowToObject(parseNetworkJson(json)) === undefined ? undefined : [{ name, json: json.trim() }];

const CALL_SYNTAXES: readonly CallSyntax[] = [
  // Qwen Coder, with or without the Hermes envelope.
  {
    marker: '<tool_call>',
    pattern: /^<tool_call>\s*<function=([^>\s]+)>([\s\S]*?)<\/function>\s*<\/tool_call>/,
    read: readTaggedCall,
  },
  { marker: '<function=', pattern: /^<function=([^>\s]+)>\s*(\{[\s\S]*?\})\s*<\/function>/, read: readNamedCall },
  {
    marker: '<function=',
    pattern: /^<function=([^>\s]+)>([\s\S]*?)<\/function>(?:\s*<\/tool_call>)?/,
    read: readTaggedCall,
  },
  // Hermes and models trained on its format; some omit the end tag.
  { marker: '<tool_call>', pattern: /^<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/, read: readJsonCalls },
  {
    marker: '<function_call>',
    pattern: /^<function_call>([\s\S]*?)(?:<\/function_call>|$)/,
    read: readJsonCalls,
  },
  // Mistral, Llama.
  { marker: '[TOOL_CALLS]', pattern: /^\[TOOL_CALLS\]\s*([[{][\s\S]*)$/, read: readJsonCalls },
  { marker: '[TOOL_CALLS]', pattern: /^\[TOOL_CALLS\]\s*([\w.-]+)(?:\[ARGS\])?\s*(\{[^[]*\})/, read: readNamedCall },
  {
    marker: '<|python_tag|>',
    pattern: /^<\|python_tag\|>\s*(\{[\s\S]*?)(?:<\|eom_id\|>|<\|eot_id\|>|$)/,
    read: readJsonCalls,
  },
  // Harmony: a message to a function in a separate channel.
  {
    marker: '<|start|>',
    pattern: /^<\|start\|>assistant(?=<\|channel\|>| to=)/,
    read: () => [],
  },
  {
    marker: '<|channel|>',
    pattern: /^<\|channel\|>(?:analysis|commentary)<\|message\|>[\s\S]*?<\|end\|>/,
    read: () => [],
  },
  {
    marker: '<|channel|>',
    pattern:
      /^<\|channel\|>\w+\s+to=functions\.([\w-]+)(?![\w-])[^{]*?<\|message\|>([\s\S]*?)(?:<\|call\|>|<\|end\|>|(?=<\|start\|>)|$)/,
    read: readNamedCall,
  },
  // Kimi.
  {
    marker: '<|tool_calls_section_begin|>',
    pattern: /^<\|tool_calls_section_(?:begin|end)\|>/,
    read: () => [],
  },
  {
    marker: '<|tool_call_begin|>',
    pattern:
      /^<\|tool_call_begin\|>\s*(?:functions\.)?([\w-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>([\s\S]*?)<\|tool_call_end\|>(?:\s*<\|tool_calls_section_end\|>)?/,
    read: readNamedCall,
  },
];

const CALL_MARKERS = [...new Set(CALL_SYNTAXES.map(({ marker }) => marker))];

/** Parses a text that consists of tool calls only; `undefined` if it contains anything else. */
function parseCalls(text: string): readonly TextToolCall[] | undefined {
  let rest = text;
  const calls: TextToolCall[] = [];
  while (rest !== '') {
    const parsed = CALL_SYNTAXES.map(({ marker, pattern, read }) => {
      const match = rest.startsWith(marker) ? pattern.exec(rest) : null;
      const parsedCalls = match === null ? undefined : read(match);
      return match === null || parsedCalls === undefined ? undefined : { length: match[0].length, parsedCalls };
    }).find((result) => result !== undefined);
    if (parsed === undefined) return undefined;
    calls.push(...parsed.parsedCalls);
    rest = rest.slice(parsed.length).trimStart();
  }
  return calls.length === 0 ? undefined : calls;
}

/** Parses one call or a list of calls in JSON; the field of the input has several names. */
function parseJsonCalls(body: string): readonly TextToolCall[] | undefined {
  const parsed = parseNetworkJson(body);
  const one = narrowToObject(parsed);
  const list = one === undefined ? narrowToObjects(parsed) : [one];
  const calls = list.map((raw) => {
    const call = narrowToObject(raw.function) ?? raw;
    const name = narrowToString(call.name);
    const input = call.arguments ?? call.parameters ?? call.input ?? {};
    const json = narrowToString(input) ?? JSON.stringify(input);
    return name === undefined || narrowToObject(parseNetworkJson(json)) === undefined ? undefined : { name, json };
  });
  const whole = calls.filter((call) => call !== undefined);
  return whole.length === 0 || whole.length < calls.length ? undefined : whole;
}

/** Parses tagged parameters. A value is a string unless it looks like other JSON. */
function parseParameters(body: string): JsonObject {
  const found = body.matchAll(/<parameter=([^<>\s]+)>\n?([\s\S]*?)(?:\n?(<\/parameter>)|$)/g);
  return Object.fromEntries(
    [...found].flatMap(([, name = '', text = '', end]) => (end === undefined ? [] : [[name, parseValue(text)]])),
  );
}

function parseValue(text: string): JsonObject[string] {
  return /^(?:[[{]|true$|false$|-?\d+(?:\.\d+)?$)/.test(text) ? (parseNetworkJson(text) ?? text) : text;
}
