import type { AssistantMessage } from '../../contracts/message.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import { metaLine, worthKeeping } from '../keep.ts';
import { append, stop, type Verdict } from '../state.ts';
import { brokeAfterCalls, type Turn } from '../turn.ts';
import { isOverflow } from './overflow.ts';
import { wasCut } from './truncation.ts';

const CUT_OFF = '[Your reply broke off here. The user has seen at most what stands here.]';

/** No recovery is left: the withheld failure becomes the end of the query. What was said until then stays said. */
export function surface(state: QueryState, turn: Turn, deps: Pick<QueryDeps, 'newId'>): Verdict | undefined {
  const terminal = terminalOf(turn);
  if (terminal === undefined) return undefined;
  // A refused reply would be refused again with every later request, so it does not stay.
  const stays = terminal.reason === 'refusal' ? undefined : worthKeeping(turn.reply, { calls: 'dropped' });
  if (stays === undefined) return stop(state, terminal);
  const said = append(state, stays);
  return stop(endsCut(stays) ? append(said, metaLine(deps, 'interrupt', CUT_OFF)) : said, terminal);
}

function endsCut({ blocks }: AssistantMessage): boolean {
  const last = blocks.at(-1);
  return last?.type === 'text' && last.cut === true;
}

function terminalOf(turn: Turn): Terminal | undefined {
  if (turn.crash !== undefined) {
    return { reason: 'model_error', words: `The model port broke: ${turn.crash}` };
  }
  if (brokeAfterCalls(turn)) return undefined;
  if (turn.failure !== undefined) {
    const { failure } = turn;
    return { reason: reasonOf(turn), failure, words: failure.message };
  }
  if (isOverflow(turn))
    return { reason: 'prompt_too_long', words: 'The reply ran into the end of the context window.' };
  if (wasCut(turn)) {
    return {
      reason: 'max_output_tokens',
      words: 'The answer is cut: it reached the output limit again and again, and was left unfinished.',
    };
  }
  if (turn.stop === 'refusal') return { reason: 'refusal', words: 'The model refused to answer this.' };
  return undefined;
}

function reasonOf(turn: Turn): Terminal['reason'] {
  switch (turn.failure?.kind) {
    case 'too_long':
      return 'prompt_too_long';
    case 'media_too_large':
      return 'image_error';
    case 'output_limit':
      return 'max_output_tokens';
    case 'refused':
      return 'refusal';
    case 'invalid':
      return turn.failure.refusedPart === 'image' ? 'image_error' : 'api_error';
    default:
      return 'api_error';
  }
}
