import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { Usage } from '../../contracts/message.ts';
import type { ModelPort } from '../../contracts/model.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** A question on the side: a title, a summary, an answer about a web page. */
export type SideQuestion = {
  /** Absent where the provider has no small model: then nothing is asked. */
  readonly model: string | undefined;
  readonly system: string;
  readonly prompt: string;
  readonly maxTokens?: number;
  /** Called with what the answer used, so that it is counted. */
  readonly onUsage?: (model: string, usage: Usage) => void;
};

const DEFAULT_MAX_TOKENS = 1024;

/** The small model's answer, or `undefined`: nothing that depends on it may fail because of it. */
export async function askSmallModel(
  port: ModelPort,
  { model, system, prompt, maxTokens = DEFAULT_MAX_TOKENS, onUsage }: SideQuestion,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (model === undefined || signal.aborted) return undefined;
  const request = {
    model,
    maxOutputTokens: maxTokens,
    system: [{ name: 'side', text: system }],
    tools: [],
    messages: [{ role: 'user', blocks: [{ type: 'text', text: prompt }] }],
    breakpoints: [],
    effort: 'off',
  } as const;
  try {
    const stream = port.stream(request, { restartable: () => true, overloadLimit: 2, maxRetries: 2 }, signal);
    let next = await stream.next();
    while (!next.done) next = await stream.next();
    if (!next.value.ok) return undefined;
    onUsage?.(model, next.value.usage);
    const text = next.value.message.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return text.trim() === '' ? undefined : text.trim();
  } catch {
    // A port that throws is its own bug; a title is not worth a crash.
    return undefined;
  }
}

const TITLER =
  'Name this conversation between a programmer and a coding assistant in three to seven words, in the language it is held in. Answer with the name alone.';
const TITLE_TOKENS = 32;
const TITLE_CHARS = 80;
const PROMPT_CHARS = 2_000;
const ANSWER_CHARS = 500;
const PATIENCE_MS = 20_000;

/** Who is asked: the small model that goes with the model in use at that moment. */
type SideModel = { readonly port: ModelPort; readonly smallModel: () => string | undefined };

export type AskTitle = (prompt: string, answer: string) => Promise<string | undefined>;

const GUESSER =
  'You see the end of a conversation between a programmer and a coding assistant. Write what the programmer will most likely say next: one short request in their words and their language, at most twelve words. If nothing is left to do, answer with nothing.';
const NEXT_TOKENS = 48;
const NEXT_CHARS = 120;

/** What a person could say next, guessed by the small model from what was said last; nothing where it has no idea. */
export async function guessNext(
  { port, smallModel }: SideModel,
  { prompt, answer }: { readonly prompt: string; readonly answer: string },
  onUsage: (model: string, usage: Usage) => void,
): Promise<string | undefined> {
  const words = `${prompt.slice(0, PROMPT_CHARS)}\n\n${answer.slice(-PROMPT_CHARS)}`.toWellFormed();
  const question = { model: smallModel(), system: GUESSER, prompt: words, maxTokens: NEXT_TOKENS, onUsage };
  const said = await askSmallModel(port, question, AbortSignal.timeout(PATIENCE_MS));
  const [line = ''] = sanitize(said ?? '', 'foreign')
    .trim()
    .split('\n');
  const next = line.replaceAll(/^["'`\s]+|["'`\s]+$/g, '');
  // A guess must not become a command or a shell line by a tab and an enter.
  return next === '' || next.length > NEXT_CHARS || /^[/!#]/.test(next) ? undefined : next;
}

/** Asks the small model what a conversation is about. Nobody in a hurry pays for it: `-p` goes by its first words. */
export function titleAsker(
  { port, smallModel }: SideModel,
  face: RunOptions['face'],
  onUsage: (model: string, usage: Usage) => void,
): AskTitle | undefined {
  if (face !== 'screen' && face !== 'editor') return undefined;
  return async (prompt, answer) => {
    const words = `${prompt.slice(0, PROMPT_CHARS)}\n\n${answer.slice(0, ANSWER_CHARS)}`.toWellFormed();
    const question = { model: smallModel(), system: TITLER, prompt: words, maxTokens: TITLE_TOKENS, onUsage };
    const said = await askSmallModel(port, question, AbortSignal.timeout(PATIENCE_MS));
    const [line = ''] = said?.split('\n') ?? [];
    const title = line.replaceAll(/^["'*#\s]+|["'*.\s]+$/g, '').slice(0, TITLE_CHARS);
    return title === '' ? undefined : title;
  };
}
