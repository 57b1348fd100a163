import type { Usage } from '../contracts/message.ts';
import { askSmallModel, MAX_PROMPT_CHARS, SIDE_CALL_TIMEOUT_MS, type SideModel } from './ask-small-model.ts';

/** Generates a session title from the first prompt and answer. */
export type TitleGenerator = (prompt: string, answer: string) => Promise<string | undefined>;

const TITLE_PROMPT =
  'Name this conversation between a programmer and a coding assistant in three to seven words, in the language it is held in. Answer with the name alone.';
const TITLE_TOKENS = 32;
const MAX_TITLE_CHARS = 80;
const MAX_ANSWER_CHARS = 500;

/** Creates a title generator. */
export function createTitleGenerator(
  { port, smallModel }: SideModel,
  onUsage: (model: string, usage: Usage) => void,
): TitleGenerator {
  return async (prompt, answer) => {
    const excerpt = `${prompt.slice(0, MAX_PROMPT_CHARS)}\n\n${answer.slice(0, MAX_ANSWER_CHARS)}`.toWellFormed();
    const question = { model: smallModel(), system: TITLE_PROMPT, prompt: excerpt, maxTokens: TITLE_TOKENS, onUsage };
    const reply = await askSmallModel(port, question, AbortSignal.timeout(SIDE_CALL_TIMEOUT_MS));
    const [line = ''] = reply?.split('\n') ?? [];
    const title = line
      .replace(/^["'*#\s]+/, '')
      .replace(/(?<!["'*.\s])["'*.\s]+$/, '')
      .slice(0, MAX_TITLE_CHARS);
    return title === '' ? undefined : title;
  };
}
