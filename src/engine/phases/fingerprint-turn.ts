import { isJsonObject } from '../../contracts/json.ts';
import type { AssistantMessage, ToolUseBlock } from '../../contracts/message.ts';
import type { TurnFingerprint } from '../../contracts/query.ts';
import { sortKeys } from '../../lib/json.ts';
import { computeShortHash } from '../../lib/text/short-hash.ts';
import type { CompletedCall } from '../tool-calls/tool-scheduler.ts';

/** Calls that take longer wait for something, which may take many of them. Models often wait with `sleep 5`. */
const WAIT_MS = 3000;
const LONG_TEXT_CHARS = 200;
/** A result of this length is hardly the same by chance, as `done` may be. */
const LONG_RESULT_CHARS = 400;
const HASH_CHARS = 32;

/** Creates the fingerprint of a finished turn, whose reply may be missing. */
export function createTurnFingerprint(
  reply: AssistantMessage | undefined,
  ended: readonly CompletedCall[],
): TurnFingerprint {
  const text = (reply?.blocks ?? []).flatMap((block) => (block.type === 'text' ? [block.text.trim()] : [])).join('\n');
  const isFailed = ended.length > 0 && ended.every(({ result }) => result.is_error === true);
  const calls = ended.map((call) => {
    const { name } = call.block;
    const input = removeLabels(call.block.input);
    const text = removeTimes(getResultText(call));
    const isLong = text.length >= LONG_RESULT_CHARS;
    // A result may be long, and is a part of several fingerprints.
    const [result, loose] = [hashText(text), hashText(removeNumbers(text))];
    return { name, input: JSON.stringify(input), bare: simplify(input), result, loose, isLong };
  });
  const changes = ended.flatMap(listChanges);
  const isLong = calls.some((call) => call.isLong);
  return {
    calls: hash(calls.map(({ name, input, result }) => [name, input, result])),
    failedCalls: isFailed ? hash(calls.map(({ name, bare }) => [name, bare])) : undefined,
    similar: hash([
      ...calls.map(({ name, bare, loose }) => [
        name,
        isFailed ? removeNumbers(removeIds(bare)) : removeIds(bare),
        loose,
      ]),
      // Another change of a file is progress, however the call looks.
      ...changes.map((change) => change.done),
    ]),
    results: isLong && changes.length === 0 ? hash(calls.map(({ name, result }) => [name, result])) : undefined,
    rejection:
      ended.length === 0 || !ended.every(isRejectedCall) ? 'none' : ended.every(isInvalidCall) ? 'invalid' : 'other',
    work: {
      calls: hash(calls.map(({ name, bare }) => [name, removeNumbers(bare)])),
      results: hash(calls.map(({ name, loose }) => [name, loose])),
    },
    isWait: ended.some(isWaitingCall),
    text: text === '' ? '' : hash([text]),
    isLongText: text.length >= LONG_TEXT_CHARS,
    changes,
  };
}

/** Returns whether a call did nothing. A command that ran and failed may be work: a test after each change. */
function isRejectedCall({ completion: { status, cause } }: CompletedCall): boolean {
  return status === 'denied' || (status === 'failed' && cause !== 'reported');
}

/** Returns whether a call could not even be tried. */
function isInvalidCall({ completion: { cause } }: CompletedCall): boolean {
  return cause === 'invalid_input' || cause === 'unknown_tool';
}

/** Returns whether a call waited for something. A sub-agent takes long because it works. */
function isWaitingCall({ block, durationMs, completion: { outcome } }: CompletedCall): boolean {
  if (outcome.display?.kind === 'agent') return false;
  const command = isJsonObject(block.input) ? block.input.command : undefined;
  return durationMs >= WAIT_MS || outcome.isPending === true || (typeof command === 'string' && SLEEP.test(command));
}

const SLEEP = /\bsleep\s+\d/;

/**
 * Returns the text of a result without what is new in every call: the ids of the call and of its sub-agent, and the
 * labels that its command printed.
 */
function getResultText({ block, result, completion }: CompletedCall): string {
  const { display } = completion.outcome;
  if (display?.kind === 'agent') return display.summary;
  const command = isJsonObject(block.input) ? block.input.command : undefined;
  const labels =
    typeof command === 'string' ? [...command.matchAll(PRINTED_LABEL)].map(([, label = '']) => label.trim()) : [];
  return [block.id, block.id.replaceAll(/[^\w-]/g, '_'), ...labels]
    .filter((part) => part !== '')
    .reduce((text, part) => text.replaceAll(part, ''), JSON.stringify(result.content));
}

/** Removes arguments that change nothing about a call beside others, and comments and printed labels of a command. */
function removeLabels(input: ToolUseBlock['input']): unknown {
  if (!isJsonObject(input)) return input;
  const { description: _description, timeout: _timeout, ...rest } = input;
  if (Object.keys(rest).length === 0) return input;
  const { command } = rest;
  // In a here-document, a line with # may be a heading.
  const isScript = typeof command === 'string' && !command.includes('<<');
  return sortKeys(
    isScript
      ? {
          ...rest,
          command: command
            .replace(COMMENT, (text, quote?: string) => (quote === undefined ? '' : text))
            .replace(PRINTED_LABEL, '')
            .trim(),
        }
      : rest,
  );
}

/** A comment to the end of its line; with a quote it may be part of a text. */
const COMMENT = /(?:^|\s)#[^'"\n]*(?:$|(?=(['"])))/gm;
/** `echo "try 3";` before another command, or a `:` with words. */
const PRINTED_LABEL =
  /(?:^|(?<=[;&\n]))[^\S\n]*(?:echo\s(?:[^\S\n]*["'])?([^"'`$|<>;&\n]*)(?:["'][^\S\n]*)?|:\s[^;&\n]*)(?:;|&&|\n+)/g;

/** The parts of a command that limit its time or its output, as models vary them when the command fails. */
const COMMAND_LIMIT = /2>&1|\|\s*(?:tail|head)\b[^|;&]*|\b(?:timeout|sleep)\s+[\d.]+[smh]?/g;

/** Returns the text of an input without what models vary when they repeat a failing call: limits and blanks. */
const simplify = (input: unknown): string =>
  JSON.stringify(input, (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(COMMAND_LIMIT, '').replace(/\s+/g, '') : value,
  );

/** Lists the changes that a call made, from the diff that it shows. */
function listChanges({ completion }: CompletedCall): TurnFingerprint['changes'] {
  const { display } = completion.outcome;
  if (display?.kind !== 'diff') return [];
  const lines = display.hunks.flatMap((hunk) => hunk.lines);
  const [added, removed] = (['add', 'del'] as const).map((kind) =>
    lines.flatMap((line) => (line.kind === kind ? [line.text] : [])),
  );
  return [{ done: hash([[display.path, removed, added]]), undone: hash([[display.path, added, removed]]) }];
}

/** Durations, times, dates and distances in turns differ between two equal results. */
const TIMES =
  /(?<!\d)(?:\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?|\d+(?:[.,]\d+)?\s?(?:ms|µs|ns|s|sec|secs|seconds?|min|minutes?|turns?)\b)/g;

/** The time of day, in words or in seconds, the ids of processes and shells, and temporary files in a simplified call. */
const CALL_IDS =
  /\b\d\d?:\d\d(?::\d\d)?\b|\b1\d{9}(?:\d{3})?\b|(?=[-\d])(?<=\bkill(?:-[A-Z]+)?|\/proc\/|\bps-p)-?\d+|(?<="shell_id":")\w+|(?<=>)\/tmp\/[\w.-]+/g;

const removeIds = (text: string): string => text.replaceAll(CALL_IDS, '#');

function removeTimes(text: string): string {
  return text.replaceAll(TIMES, '#');
}

/** Removes numbers and words with digits: counters, process ids, addresses, random names. */
function removeNumbers(text: string): string {
  return text.replaceAll(/\b(?:[a-z_]*\d\w*|[a-f]{4,}\b)/gi, '#');
}

/** Hashes a set: calls that run in parallel may come in any order, and twice. */
function hash(parts: readonly unknown[]): string {
  if (parts.length === 0) return '';
  const texts = [...new Set(parts.map((part) => JSON.stringify(part)))].sort();
  return hashText(texts.join('\n'));
}

function hashText(text: string): string {
  return computeShortHash(text, HASH_CHARS);
}
