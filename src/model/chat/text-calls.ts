import type { JsonObject } from '../../contracts/json.ts';
import { objectOf, objectsOf, parseJson, textOf } from '../wire/wire-json.ts';

/** A call that a model wrote into its words, because its server did not take it out of them. */
export type WrittenCall = { readonly name: string; readonly json: string };

/** What a reply turns out to say: words, or calls of tools that were offered. */
export type HeldWords = { readonly words: string; readonly calls: readonly WrittenCall[] };

export type CallSplitter = {
  /** The words that are surely words. */
  push(text: string): string;
  /** What was held back because calls seemed to begin there. */
  flush(): HeldWords;
};

/**
 * Finds calls in the words of a reply. They count only where nothing but calls follows up to its end and each names an
 * offered tool: an example in the middle of an explanation stays one.
 */
export function createCallSplitter(tools: ReadonlySet<string>): CallSplitter {
  let held = '';
  let lineIsBlank = true;
  let isCode = false;

  function push(text: string): string {
    if (tools.size === 0) return text;
    held += text;
    let said = '';
    while (held !== '' && !mayBegin()) {
      const end = held.indexOf('\n') + 1;
      const line = end === 0 ? held : held.slice(0, end);
      // A fence is told by its line: what is no whole line yet may still become one.
      if (lineIsBlank && end === 0 && FENCE_BEGINS.test(line)) return said;
      if (lineIsBlank && FENCE.test(line)) isCode = !isCode;
      lineIsBlank = end !== 0 || (lineIsBlank && line.trim() === '');
      said += line;
      held = held.slice(line.length);
    }
    return said;
  }

  /** Does a line begin here with a mark, or with what may become one? */
  function mayBegin(): boolean {
    const begin = held.trimStart();
    if (!lineIsBlank || isCode || begin === '') return false;
    return MARKS.some((mark) => begin.startsWith(mark) || mark.startsWith(begin));
  }

  return {
    push,
    flush() {
      const text = held;
      held = '';
      const calls = readCalls(text.trim());
      if (calls?.every(({ name }) => tools.has(name))) return { words: '', calls };
      return { words: HARMONY_ANSWER.exec(text)?.[1] ?? text, calls: [] };
    },
  };
}

const FENCE = /^\s*(?:```|~~~)/;
const FENCE_BEGINS = /^\s*(?:`{1,2}|~{1,2})?$/;

/** The answer itself has a channel, too. */
const HARMONY_ANSWER =
  /^\s*(?:<\|channel\|>analysis<\|message\|>[\s\S]*?<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>([\s\S]*?)(?:<\|return\|>|<\|end\|>)?\s*$/;

/** One way of writing a call: how it begins, and a pattern that reads it off the front of the words. */
type Style = {
  readonly mark: string;
  readonly pattern: RegExp;
  readonly read: (found: RegExpExecArray) => readonly WrittenCall[] | undefined;
};

const asJson = ([, body = '']: RegExpExecArray) => callsOf(body);
const asTags = ([, name = '', body = '']: RegExpExecArray) => [{ name, json: JSON.stringify(parametersOf(body)) }];
const asNamed = ([, name = '', json = '']: RegExpExecArray) =>
  objectOf(parseJson(json)) === undefined ? undefined : [{ name, json: json.trim() }];

const STYLES: readonly Style[] = [
  // Qwen's coders, bare or in Hermes's envelope.
  {
    mark: '<tool_call>',
    pattern: /^<tool_call>\s*<function=([^>\s]+)>([\s\S]*?)<\/function>\s*<\/tool_call>/,
    read: asTags,
  },
  { mark: '<function=', pattern: /^<function=([^>\s]+)>\s*(\{[\s\S]*?\})\s*<\/function>/, read: asNamed },
  { mark: '<function=', pattern: /^<function=([^>\s]+)>([\s\S]*?)<\/function>(?:\s*<\/tool_call>)?/, read: asTags },
  // Hermes and those who learnt from it; some leave the end out.
  { mark: '<tool_call>', pattern: /^<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/, read: asJson },
  { mark: '<function_call>', pattern: /^<function_call>\s*([\s\S]*?)\s*(?:<\/function_call>|$)/, read: asJson },
  // Mistral, Llama.
  { mark: '[TOOL_CALLS]', pattern: /^\[TOOL_CALLS\]\s*([[{][\s\S]*)$/, read: asJson },
  { mark: '[TOOL_CALLS]', pattern: /^\[TOOL_CALLS\]\s*([\w.-]+)(?:\[ARGS\])?\s*(\{[^[]*\})/, read: asNamed },
  { mark: '<|python_tag|>', pattern: /^<\|python_tag\|>\s*(\{[\s\S]*?)(?:<\|eom_id\|>|<\|eot_id\|>|$)/, read: asJson },
  // Harmony: a message to a function on a channel of its own.
  {
    mark: '<|start|>',
    pattern: /^<\|start\|>assistant(?=<\|channel\|>| to=)/,
    read: () => [],
  },
  {
    mark: '<|channel|>',
    pattern: /^<\|channel\|>(?:analysis|commentary)<\|message\|>[\s\S]*?<\|end\|>/,
    read: () => [],
  },
  {
    mark: '<|channel|>',
    pattern:
      /^<\|channel\|>\w+\s+to=functions\.([\w-]+)[^{]*?<\|message\|>([\s\S]*?)(?:<\|call\|>|<\|end\|>|(?=<\|start\|>)|$)/,
    read: asNamed,
  },
  // Kimi.
  {
    mark: '<|tool_calls_section_begin|>',
    pattern: /^<\|tool_calls_section_(?:begin|end)\|>/,
    read: () => [],
  },
  {
    mark: '<|tool_call_begin|>',
    pattern:
      /^<\|tool_call_begin\|>\s*(?:functions\.)?([\w-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>([\s\S]*?)<\|tool_call_end\|>(?:\s*<\|tool_calls_section_end\|>)?/,
    read: asNamed,
  },
];

const MARKS = [...new Set(STYLES.map(({ mark }) => mark))];

/** The calls that a text is made of; `undefined` when anything else is in it. */
function readCalls(text: string): readonly WrittenCall[] | undefined {
  let rest = text;
  const calls: WrittenCall[] = [];
  while (rest !== '') {
    const step = STYLES.map(({ mark, pattern, read }) => {
      const found = rest.startsWith(mark) ? pattern.exec(rest) : null;
      const made = found === null ? undefined : read(found);
      return found === null || made === undefined ? undefined : { length: found[0].length, made };
    }).find((one) => one !== undefined);
    if (step === undefined) return undefined;
    calls.push(...step.made);
    rest = rest.slice(step.length).trimStart();
  }
  return calls.length === 0 ? undefined : calls;
}

/** One call as JSON, or a list of them; servers call the input by three names. */
function callsOf(body: string): readonly WrittenCall[] | undefined {
  const parsed = parseJson(body);
  const one = objectOf(parsed);
  const list = one === undefined ? objectsOf(parsed) : [one];
  const calls = list.map((raw) => {
    const call = objectOf(raw.function) ?? raw;
    const name = textOf(call.name);
    const input = call.arguments ?? call.parameters ?? call.input ?? {};
    const json = textOf(input) ?? JSON.stringify(input);
    return name === undefined || objectOf(parseJson(json)) === undefined ? undefined : { name, json };
  });
  const whole = calls.filter((call) => call !== undefined);
  return whole.length === 0 || whole.length < calls.length ? undefined : whole;
}

/** What stands between tags is text, unless it reads as something else. */
function parametersOf(body: string): JsonObject {
  const found = body.matchAll(/<parameter=([^>\s]+)>\n?([\s\S]*?)\n?<\/parameter>/g);
  return Object.fromEntries([...found].map(([, name = '', text = '']) => [name, parsedOr(text)]));
}

function parsedOr(text: string): JsonObject[string] {
  return /^(?:[[{]|true$|false$|-?\d+(?:\.\d+)?$)/.test(text) ? (parseJson(text) ?? text) : text;
}
