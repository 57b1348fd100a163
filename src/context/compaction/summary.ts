import { isJsonObject } from '../../contracts/json.ts';
import {
  isTypedByUser,
  joinTextBlocks,
  type Message,
  type TextBlock,
  type UserMessage,
} from '../../contracts/message.ts';
import type { ToolTraitsLookup } from '../../contracts/permission.ts';
import { truncate } from '../../lib/text/format.ts';
import { isPinnedMessage } from '../reduction/propose-reductions.ts';
import { listToolCalls } from '../tool-calls.ts';
import { getUserPromptText } from './kept-messages.ts';

/** The facts known to the session that every summary must carry on. */
export type CarriedFacts = {
  readonly todos: readonly string[];
  readonly plan?: string;
  readonly filesRead: readonly string[];
  readonly filesChanged: readonly string[];
  readonly skills: readonly string[];
  /** Sentences on the present state of the session, for the model after the compaction. */
  readonly state?: readonly string[];
};

const SKILLS_TITLE = 'Skills in use';
const USER_PREFIX = 'Earlier the user wrote: ';
const MAX_USER_MESSAGES = 40;
const MAX_USER_MESSAGE_CHARS = 600;
const MAX_FILES = 60;

/** Renders the instructions for the model that writes the summary. */
export function renderSummaryInstructions(
  messages: readonly Message[],
  carried: CarriedFacts,
  focus: string | undefined,
): string {
  const pins = messages
    .filter(isPinnedMessage)
    .flatMap((message) => (message.role === 'user' ? [getUserPromptText(message)] : []));
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
      : [`These words of the user stay in force and are kept beside your summary:\n${renderList(pins)}`]),
    ...renderFacts(carried),
    'Put the summary between <summary> and </summary>.',
  ].join('\n\n');
}

/** Extracts the summary between its tags, or the reason why it cannot be used. */
export function parseCompactionSummary(
  answer: string,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string } {
  const opened = answer.indexOf('<summary>');
  const closed = answer.lastIndexOf('</summary>');
  if (opened !== -1 && closed < opened) return { ok: false, why: 'the summary was cut off' };
  const text = (opened === -1 ? answer : answer.slice(opened + '<summary>'.length, closed)).trim();
  return text === '' ? { ok: false, why: 'the summary came back empty' } : { ok: true, text };
}

/** Creates the message that replaces everything before the kept turns: summary, facts and the user's own messages. */
export function createSummaryMessage(
  id: string,
  text: string,
  replaced: readonly Message[],
  carried: CarriedFacts,
): UserMessage {
  const facts = renderFacts(carried).join('\n\n');
  const blocks: TextBlock[] = [
    { type: 'text', text: `<reminder>The conversation up to here was replaced by this summary.</reminder>\n${text}` },
    ...(facts === '' ? [] : [{ type: 'text' as const, text: facts }]),
    ...renderState(carried),
    ...collectUserTexts(replaced).map((userText): TextBlock => ({ type: 'text', text: `${USER_PREFIX}${userText}` })),
  ];
  return { role: 'user', id, origin: 'summary', blocks };
}

/** Creates the summary text used when the model could not write one. */
export function createFallbackSummary(why: string): string {
  return `No summary could be written (${why}). What the session itself knows follows; look at the files again before relying on anything else.`;
}

/** Collects the user's own messages, including those carried on by earlier compactions; keeps the newest. */
function collectUserTexts(replaced: readonly Message[]): readonly string[] {
  const texts = replaced.flatMap((message): string[] => {
    if (message.role !== 'user' || isPinnedMessage(message)) return [];
    if (message.origin === 'summary') return getCarriedTexts(message);
    return isTypedByUser(message) ? [truncateText(getUserPromptText(message))] : [];
  });
  return texts.filter((text) => text !== '').slice(-MAX_USER_MESSAGES);
}

function getCarriedTexts(message: UserMessage): string[] {
  return message.blocks.flatMap((block) =>
    block.type === 'text' && block.text.startsWith(USER_PREFIX) ? [block.text.slice(USER_PREFIX.length)] : [],
  );
}

function truncateText(message: string): string {
  const text = message.trim();
  return truncate(text, MAX_USER_MESSAGE_CHARS + 1);
}

function renderState({ state = [] }: CarriedFacts): readonly TextBlock[] {
  if (state.length === 0) return [];
  return [{ type: 'text', text: `<reminder>The state of the session now:\n${renderList(state)}</reminder>` }];
}

function renderFacts(carried: CarriedFacts): readonly string[] {
  const { todos, plan, filesRead, filesChanged, skills } = carried;
  const unchanged = filesRead.filter((file) => !filesChanged.includes(file));
  return [
    ...renderSection('Files changed so far', filesChanged),
    ...renderSection('Files read so far', unchanged),
    ...renderSection('The to-do list', todos),
    ...renderSection(`${SKILLS_TITLE} (load one again with the Skill tool before relying on it)`, skills),
    ...(plan === undefined ? [] : [`The plan the user approved:\n${plan}`]),
  ];
}

function renderSection(title: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  const more = items.length > MAX_FILES ? [`and ${items.length - MAX_FILES} more`] : [];
  return [`${title}:\n${renderList([...items.slice(-MAX_FILES), ...more])}`];
}

function renderList(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** Lists the skills in use: loaded in the conversation, or carried on by an earlier compaction. */
export function listSkillsInUse(messages: readonly Message[], toolNamed: ToolTraitsLookup): readonly string[] {
  const loaded = messages.flatMap(listToolCalls).flatMap(({ name, input }) => {
    const facts = isJsonObject(input) ? toolNamed(name)?.facts?.(input, '') : undefined;
    return facts?.kind === 'skill' ? facts.specifier || [] : [];
  });
  return [...new Set([...messages.flatMap(listCarriedSkills), ...loaded])];
}

function listCarriedSkills(message: Message): readonly string[] {
  if (message.role !== 'user' || message.origin !== 'summary') return [];
  const text = joinTextBlocks(message.blocks, '\n\n');
  const listText = new RegExp(`(?:^|\\n\\n)${SKILLS_TITLE}[^\\n]*:\\n((?:- [^\\n]+\\n?)+)`).exec(text)?.[1] ?? '';
  return listText.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
}
