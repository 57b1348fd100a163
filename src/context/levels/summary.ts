import { isJsonObject } from '../../contracts/json.ts';
import { isTypedByPerson, type Message, type TextBlock, type UserMessage } from '../../contracts/message.ts';
import type { ToolLookup } from '../../contracts/permission.ts';
import { callsIn } from '../calls.ts';
import { textOfMessage } from './kept.ts';
import { isPinned } from './levels.ts';

/** What the session knows by itself and no summary may lose. */
export type Carried = {
  readonly todos: readonly string[];
  readonly plan?: string;
  readonly filesRead: readonly string[];
  readonly filesChanged: readonly string[];
  readonly skills: readonly string[];
};

const SKILLS_TITLE = 'Skills in use';
const SAID = 'Earlier the user wrote: ';
const MAX_SAID = 40;
const MAX_SAID_CHARS = 600;
const MAX_FILES = 60;

/** The order to the model that writes the summary, with the facts it must not lose. */
export function summaryInstructions(messages: readonly Message[], carried: Carried, focus: string | undefined): string {
  const pins = messages
    .filter(isPinned)
    .flatMap((message) => (message.role === 'user' ? [textOfMessage(message)] : []));
  return [
    'The conversation has grown too long and will go on from a summary. Write that summary now, for yourself: after it you will see nothing of the above except your last turns. Call no tools.',
    'Cover, in this order and in plain short sentences:',
    '1. What the user wants, every change of mind included, and everything they forbade or insisted on, in their own words.',
    '2. What is done, file by file, with the names of functions, types and settings that matter later, and what was decided and why.',
    '3. What was tried and did not work, with the error as it was shown.',
    '4. Commands that matter (how to build, test, run) and what they said last.',
    '5. What is in progress this moment and what comes next.',
    'Keep exact: paths, identifiers, numbers, error texts. Leave out: greetings, whole files, output that can be had again. Say what is not known instead of guessing.',
    ...(focus === undefined || focus.trim() === '' ? [] : [`The user wants this kept above all: ${focus.trim()}`]),
    ...(pins.length === 0
      ? []
      : [`These words of the user stay in force and are kept beside your summary:\n${list(pins)}`]),
    ...factLines(carried),
    'Put the summary between <summary> and </summary>.',
  ].join('\n\n');
}

/** The words between the tags, or why they cannot be used. */
export function readSummary(
  answer: string,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string } {
  const opened = answer.indexOf('<summary>');
  const closed = answer.lastIndexOf('</summary>');
  if (opened !== -1 && closed < opened) return { ok: false, why: 'the summary was cut off' };
  const text = (opened === -1 ? answer : answer.slice(opened + '<summary>'.length, closed)).trim();
  return text === '' ? { ok: false, why: 'the summary came back empty' } : { ok: true, text };
}

/** Stands for everything before the kept turns: the summary, the facts, and the user's own words. */
export function summaryMessage(id: string, text: string, gone: readonly Message[], carried: Carried): UserMessage {
  const facts = factLines(carried).join('\n\n');
  const blocks: TextBlock[] = [
    { type: 'text', text: `<reminder>The conversation up to here was replaced by this summary.</reminder>\n${text}` },
    ...(facts === '' ? [] : [{ type: 'text' as const, text: facts }]),
    ...said(gone).map((words): TextBlock => ({ type: 'text', text: `${SAID}${words}` })),
  ];
  return { role: 'user', id, origin: 'summary', blocks };
}

/** No model wrote this: it is what can be said without one. */
export function mechanicalSummary(why: string): string {
  return `No summary could be written (${why}). What the session itself knows follows; look at the files again before relying on anything else.`;
}

/** The user's own words so far, those that an earlier compaction carried included; the newest win the room. */
function said(gone: readonly Message[]): readonly string[] {
  const words = gone.flatMap((message): string[] => {
    if (message.role !== 'user' || isPinned(message)) return [];
    if (message.origin === 'summary') return carriedWords(message);
    return isTypedByPerson(message) ? [shortened(textOfMessage(message))] : [];
  });
  return words.filter((text) => text !== '').slice(-MAX_SAID);
}

function carriedWords(message: UserMessage): string[] {
  return message.blocks.flatMap((block) =>
    block.type === 'text' && block.text.startsWith(SAID) ? [block.text.slice(SAID.length)] : [],
  );
}

function shortened(words: string): string {
  const text = words.trim();
  return text.length > MAX_SAID_CHARS ? `${text.slice(0, MAX_SAID_CHARS).toWellFormed()}…` : text;
}

function factLines(carried: Carried): readonly string[] {
  const { todos, plan, filesRead, filesChanged, skills } = carried;
  const unchanged = filesRead.filter((file) => !filesChanged.includes(file));
  return [
    ...section('Files changed so far', filesChanged),
    ...section('Files read so far', unchanged),
    ...section('The to-do list', todos),
    ...section(`${SKILLS_TITLE} (load one again with the Skill tool before relying on it)`, skills),
    ...(plan === undefined ? [] : [`The plan the user approved:\n${plan}`]),
  ];
}

function section(title: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  const more = items.length > MAX_FILES ? [`and ${items.length - MAX_FILES} more`] : [];
  return [`${title}:\n${list([...items.slice(-MAX_FILES), ...more])}`];
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** Skills the conversation works by: loaded in it, or carried on by an earlier compaction. */
export function skillsInUse(messages: readonly Message[], toolNamed: ToolLookup): readonly string[] {
  const loaded = messages.flatMap(callsIn).flatMap(({ name, input }) => {
    const facts = isJsonObject(input) ? toolNamed(name)?.facts?.(input, '') : undefined;
    return facts?.kind === 'skill' ? facts.specifier || [] : [];
  });
  return [...new Set([...messages.flatMap(carriedOn), ...loaded])];
}

function carriedOn(message: Message): readonly string[] {
  if (message.role !== 'user' || message.origin !== 'summary') return [];
  const text = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
  const list = new RegExp(`(?:^|\\n\\n)${SKILLS_TITLE}[^\\n]*:\\n((?:- [^\\n]+\\n?)+)`).exec(text)?.[1] ?? '';
  return list.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
}
