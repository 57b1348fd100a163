import type { Agent } from '../contracts/agent.ts';
import { listMessageBlocks, type Message, type UserOrigin } from '../contracts/message.ts';
import type { ModelInfo } from '../contracts/model.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { ToolFailure } from '../contracts/tool.ts';
import { isSystemReminder } from '../lib/text/reminder.ts';
import { askSmallModel } from '../model/ask-small-model.ts';
import { generatePromptSuggestion } from '../model/generate-prompt-suggestion.ts';
import type { ModelRegistry } from '../model/registry/model-registry.ts';
import { searchWebWithProvider } from '../model/search-web-with-provider.ts';
import { createNetworkFetch } from '../model/stream/network-fetch.ts';
import type { UsageMeter } from '../model/usage-meter.ts';
import { getSearchKeyVariable } from '../settings/effective-environment.ts';
import type { WebFetchDeps } from './web-fetch/web-fetch.ts';
import { createProviderSearch } from './web-search/search-providers.ts';
import type { WebSearch } from './web-search/web-search.ts';

const PAGE_SYSTEM_PROMPT = 'You answer questions about one web page for a programmer, from the page alone.';
const CALLS_SUMMARY_TOKENS = 60;
const CALLS_SYSTEM_PROMPT =
  'Say in one line of at most ten words, past tense, without a full stop, what these tool calls of a coding assistant did together. Nothing else.';

/** Requests to a model outside of the conversation. */
type SideRequests = {
  /** Answers a question about a web page. */
  readonly answerAboutPage: WebFetchDeps['answerFromPage'];
  /** Searches the web with the configured search provider, or else with the search of the model's provider. */
  readonly searchWeb: WebSearch;
  /** Summarizes tool calls; absent in modes that do not display the summary. */
  readonly summarizeCalls: QueryDeps['summarizeCalls'];
};

type SideRequestCore = Pick<SessionCore, 'live' | 'options' | 'settings' | 'environment'> & {
  readonly model: ModelRegistry;
  readonly smallModel: () => string | undefined;
  readonly meter: UsageMeter;
};

/** Creates the side requests. Call summaries are made only for the screen and for hosts. */
export function createSideRequests({
  model,
  smallModel,
  live,
  meter,
  options,
  settings,
  environment,
}: SideRequestCore): SideRequests {
  const { port, infoOf } = model;
  const onUsage = meter.addReply;
  const send = createNetworkFetch({
    variables: environment.variables,
    keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
    extraCaFile: environment.extraCaFile,
  });

  return {
    async answerAboutPage(prompt, page, signal) {
      const question = {
        model: smallModel(),
        system: PAGE_SYSTEM_PROMPT,
        prompt: `${prompt}\n\n${page}`,
        maxTokens: 4096,
        onUsage,
      };
      const answer = await askSmallModel(port, question, signal);
      // Without an answer, and for providers without a small model, the page itself is returned.
      return answer ?? page;
    },
    async searchWeb(query, options, signal) {
      const { webSearch } = settings.current();
      if (webSearch !== undefined)
        return createProviderSearch({
          settings: webSearch,
          key: environment.keys[getSearchKeyVariable(webSearch) ?? ''],
          send,
          variables: settings.variables(),
        })(query, options, signal);
      const request = {
        model: selectSearchModel(smallModel(), live.current().model, infoOf),
        query,
        ...options,
        onUsage,
      };
      const answer = await searchWebWithProvider(port, request, signal);
      if (!answer.ok) throw new ToolFailure(`The search failed: ${answer.problem}`);
      return answer;
    },
    summarizeCalls:
      options.frontend !== 'screen' && options.frontend !== 'host'
        ? undefined
        : async (calls, signal) => {
            // For one or two calls their titles are enough.
            if (settings.current().callSummaries !== true || calls.length < 3) return undefined;
            const prompt = calls.map(({ tool, title }) => `${tool}: ${title}`).join('\n');
            const question = {
              model: smallModel(),
              system: CALLS_SYSTEM_PROMPT,
              prompt,
              maxTokens: CALLS_SUMMARY_TOKENS,
              onUsage,
            };
            return askSmallModel(port, question, signal);
          },
  };
}

/** Returns the small model if it supports web search, else the main model. */
function selectSearchModel(small: string | undefined, main: string, infoOf: (model: string) => ModelInfo): string {
  return small !== undefined && infoOf(small).webSearch ? small : main;
}

/** Suggests the next prompt with the small model, if the user has enabled suggestions. */
export async function suggestPromptIfEnabled(core: SideRequestCore, agent: Agent): Promise<string | undefined> {
  if (core.settings.current().promptSuggestions !== true && core.options.promptSuggestions !== true) return undefined;
  const messages = agent.state().messages;
  const prompt = messages.findLast(
    ({ role, ...message }) => role === 'user' && 'origin' in message && isTyped(message.origin),
  );
  const answer = messages.findLast((message) => message.role === 'assistant' && extractText(message) !== '');
  if (prompt === undefined || answer === undefined) return undefined;
  const side = { port: core.model.port, smallModel: core.smallModel };
  return generatePromptSuggestion(
    side,
    { prompt: extractText(prompt), answer: extractText(answer) },
    core.meter.addReply,
  );
}

function isTyped(origin: UserOrigin): boolean {
  return origin === 'prompt' || origin === 'steer' || origin === 'follow_up';
}

function extractText(message: Message): string {
  return listMessageBlocks(message)
    .flatMap((block) => (block.type === 'text' && !isSystemReminder(block.text) ? [block.text] : []))
    .join('\n');
}
