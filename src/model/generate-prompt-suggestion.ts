import type { Usage } from '../contracts/message.ts';
import { sanitize } from '../lib/text/sanitize.ts';
import { askSmallModel, MAX_PROMPT_CHARS, SIDE_CALL_TIMEOUT_MS, type SideModel } from './ask-small-model.ts';

const SUGGESTION_PROMPT =
  'You see the end of a conversation between a programmer and a coding assistant. Write what the programmer will most likely say next: one short request in their words and their language, at most twelve words. If nothing is left to do, answer with nothing.';
const SUGGESTION_TOKENS = 48;
const MAX_SUGGESTION_CHARS = 120;

/** Suggests the user's next prompt from the last prompt and answer; `undefined` if the model has no suggestion. */
export async function generatePromptSuggestion(
  { port, smallModel }: SideModel,
  { prompt, answer }: { readonly prompt: string; readonly answer: string },
  onUsage: (model: string, usage: Usage) => void,
): Promise<string | undefined> {
  const excerpt = `${prompt.slice(0, MAX_PROMPT_CHARS)}\n\n${answer.slice(-MAX_PROMPT_CHARS)}`.toWellFormed();
  const question = {
    model: smallModel(),
    system: SUGGESTION_PROMPT,
    prompt: excerpt,
    maxTokens: SUGGESTION_TOKENS,
    onUsage,
  };
  const reply = await askSmallModel(port, question, AbortSignal.timeout(SIDE_CALL_TIMEOUT_MS));
  const [line = ''] = sanitize(reply ?? '', 'foreign')
    .trim()
    .split('\n');
  const suggestion = line.replaceAll(/^["'`\s]+|(?<!["'`\s])["'`\s]+$/g, '');
  // A suggestion must not become a slash command or a shell line when the user accepts it.
  return suggestion === '' || suggestion.length > MAX_SUGGESTION_CHARS || /^[/!#]/.test(suggestion)
    ? undefined
    : suggestion;
}
