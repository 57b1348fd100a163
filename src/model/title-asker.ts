import type { RunOptions } from '../contracts/face/run-options.ts';
import type { Usage } from '../contracts/message.ts';
import type { ModelChoice } from './choose-port.ts';
import { askSmallModel } from './side-calls.ts';

const TITLER =
  'Name this conversation between a programmer and a coding assistant in three to seven words, in the language it is held in. Answer with the name alone.';
const TITLE_TOKENS = 32;
const TITLE_CHARS = 80;
const PROMPT_CHARS = 2_000;
const ANSWER_CHARS = 500;
const PATIENCE_MS = 20_000;

export type AskTitle = (prompt: string, answer: string) => Promise<string | undefined>;

/** Asks the small model what a conversation is about. Nobody in a hurry pays for it: `-p` goes by its first words. */
export function titleAsker(
  { port, smallModel }: Pick<ModelChoice, 'port' | 'smallModel'>,
  face: RunOptions['face'],
  onUsage: (model: string, usage: Usage) => void,
): AskTitle | undefined {
  if (smallModel === undefined || (face !== 'screen' && face !== 'editor')) return undefined;
  return async (prompt, answer) => {
    const words = `${prompt.slice(0, PROMPT_CHARS)}\n\n${answer.slice(0, ANSWER_CHARS)}`.toWellFormed();
    const question = { model: smallModel, system: TITLER, prompt: words, maxTokens: TITLE_TOKENS, onUsage };
    const said = await askSmallModel(port, question, AbortSignal.timeout(PATIENCE_MS));
    const [line = ''] = said?.split('\n') ?? [];
    const title = line.replaceAll(/^["'*#\s]+|["'*.\s]+$/g, '').slice(0, TITLE_CHARS);
    return title === '' ? undefined : title;
  };
}
