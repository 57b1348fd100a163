import type { ModelInfo } from '../../contracts/model.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { searchWithProvider } from '../../model/side/provider-search.ts';
import { askSmallModel } from '../../model/side/side-calls.ts';
import type { WebFetchParts } from '../../tools/web-fetch/web-fetch.ts';
import type { WebSearch } from '../../tools/web-search/web-search.ts';
import type { Core } from '../core.ts';

const PAGE_READER = 'You answer questions about one web page for a programmer, from the page alone.';
const SUMMARY_TOKENS = 60;
const SUMMARIZER =
  'Say in one line of at most ten words, past tense, without a full stop, what these tool calls of a coding assistant did together. Nothing else.';

/** What is asked of a model beside the conversation. */
export type SideAsks = {
  readonly aboutPage: WebFetchParts['ask'];
  readonly searchWeb: WebSearch;
  /** Absent where nobody watches. */
  readonly summarizeCalls: QueryDeps['summarizeCalls'];
};

/** A summary of calls is for people who watch, perhaps through a host. */
export function createSideAsks({
  model,
  smallModel,
  live,
  meter,
  options,
}: Pick<Core, 'model' | 'smallModel' | 'live' | 'meter' | 'options'>): SideAsks {
  const { port, infoOf } = model;
  const onUsage = meter.add;

  return {
    async aboutPage(prompt, page, signal) {
      const question = {
        model: smallModel(),
        system: PAGE_READER,
        prompt: `${prompt}\n\n${page}`,
        maxTokens: 4096,
        onUsage,
      };
      const answer = await askSmallModel(port, question, signal);
      // The page itself is worth more than nothing, and a provider without a small model has only that.
      return answer ?? page;
    },
    async searchWeb(query, options, signal) {
      const order = { model: searcher(smallModel(), live.now().model, infoOf), query, ...options, onUsage };
      const answer = await searchWithProvider(port, order, signal);
      if (!answer.ok) throw new ToolFailure(`The search failed: ${answer.why}`);
      return answer;
    },
    summarizeCalls:
      options.face !== 'screen' && options.face !== 'host'
        ? undefined
        : async (calls, signal) => {
            // One or two calls say what they are by their own titles.
            if (calls.length < 3) return undefined;
            const prompt = calls.map(({ tool, title }) => `${tool}: ${title}`).join('\n');
            const question = { model: smallModel(), system: SUMMARIZER, prompt, maxTokens: SUMMARY_TOKENS, onUsage };
            return askSmallModel(port, question, signal);
          },
  };
}

/** The cheaper model searches, if it can. */
function searcher(small: string | undefined, main: string, infoOf: (model: string) => ModelInfo): string {
  return small !== undefined && infoOf(small).webSearch ? small : main;
}
