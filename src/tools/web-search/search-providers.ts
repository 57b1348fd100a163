import { z } from 'zod';
import { SEARCH_KEY_VARIABLES } from '../../contracts/environment.ts';
import type { WebSearchSettings } from '../../contracts/settings.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { runShellCommand } from '../../lib/processes/find-shell.ts';
import { requireProgramOutput } from '../../lib/processes/run-program.ts';
import { startOutsideWorkspace } from '../../lib/programs/start-outside-workspace.ts';
import type { WebSearch, WebSearchOptions, WebSearchSource } from './web-search.ts';

/** The connection to a search provider: its settings, the key, and the way to send. */
export type SearchProviderAccess = {
  readonly settings: WebSearchSettings;
  readonly key: string | undefined;
  readonly send: typeof fetch;
  /** Variables for a search command. */
  readonly variables: Readonly<Record<string, string>>;
};

const TIMEOUT_MS = 20_000;
const COMMAND_TIMEOUT_MS = 60_000;
const DEFAULT_RESULTS = 8;
/** Length to which the text of one page is cut. */
const MAX_TEXT_CHARS = 1_500;
const MAX_RESPONSE_CHARS = 2_000_000;

/** Creates the web search of a configured provider. The key is sent to that provider only, and is part of no message. */
export function createProviderSearch(access: SearchProviderAccess): WebSearch {
  return async (query, options, signal) => {
    const found = await search(access, query, options, signal);
    const pages = found.pages.filter((page) => isAllowed(page, options));
    const shown = pages.slice(0, access.settings.maxResults ?? DEFAULT_RESULTS);
    return { text: [found.answer, ...shown.map(formatPage)].filter((text) => text !== '').join('\n\n'), pages: shown };
  };
}

type Page = WebSearchSource & { readonly text: string };
type Found = { readonly answer: string; readonly pages: readonly Page[] };

function search(
  access: SearchProviderAccess,
  query: string,
  options: WebSearchOptions,
  signal: AbortSignal,
): Promise<Found> {
  switch (access.settings.provider) {
    case 'brave':
      return searchBrave(access, query, options, signal);
    case 'tavily':
      return searchTavily(access, query, options, signal);
    case 'exa':
      return searchExa(access, query, options, signal);
    case 'searxng':
      return searchSearxng(access, query, options, signal);
    default:
      return runSearchCommand(access, query, options, signal);
  }
}

const text = z.string().catch('');
const brave = z.lazy(() =>
  z.object({
    web: z.object({ results: z.array(z.object({ title: text, url: z.string(), description: text })) }).optional(),
  }),
);

async function searchBrave(
  access: SearchProviderAccess,
  query: string,
  options: WebSearchOptions,
  signal: AbortSignal,
) {
  const url = createAddress(access, 'https://api.search.brave.com', '/res/v1/web/search');
  url.searchParams.set('q', addSiteOperators(query, options));
  url.searchParams.set('count', String(access.settings.maxResults ?? DEFAULT_RESULTS));
  const headers = { accept: 'application/json', 'x-subscription-token': requireKey(access) };
  const { web } = brave.parse(await request(access, url, { headers, signal }));
  return createFound((web?.results ?? []).map(({ description, ...page }) => ({ ...page, text: description })));
}

const tavily = z.lazy(() =>
  z.object({
    answer: z.string().nullish(),
    results: z.array(z.object({ title: text, url: z.string(), content: text })),
  }),
);

async function searchTavily(
  access: SearchProviderAccess,
  query: string,
  options: WebSearchOptions,
  signal: AbortSignal,
) {
  const url = createAddress(access, 'https://api.tavily.com', '/search');
  const { answer, results } = tavily.parse(
    await request(access, url, {
      ...createJsonBody({
        query,
        max_results: access.settings.maxResults ?? DEFAULT_RESULTS,
        ...(options.allowedDomains && { include_domains: options.allowedDomains }),
        ...(options.blockedDomains && { exclude_domains: options.blockedDomains }),
      }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${requireKey(access)}` },
      signal,
    }),
  );
  return createFound(
    results.map(({ content, ...page }) => ({ ...page, text: content })),
    answer ?? '',
  );
}

const exa = z.lazy(() =>
  z.object({
    results: z.array(z.object({ title: z.string().nullish(), url: z.string(), text: z.string().nullish() })),
  }),
);

async function searchExa(access: SearchProviderAccess, query: string, options: WebSearchOptions, signal: AbortSignal) {
  const url = createAddress(access, 'https://api.exa.ai', '/search');
  const { results } = exa.parse(
    await request(access, url, {
      ...createJsonBody({
        query,
        numResults: access.settings.maxResults ?? DEFAULT_RESULTS,
        contents: { text: { maxCharacters: MAX_TEXT_CHARS } },
        ...(options.allowedDomains && { includeDomains: options.allowedDomains }),
        ...(options.blockedDomains && { excludeDomains: options.blockedDomains }),
      }),
      headers: { 'content-type': 'application/json', 'x-api-key': requireKey(access) },
      signal,
    }),
  );
  return createFound(results.map((page) => ({ title: page.title ?? page.url, url: page.url, text: page.text ?? '' })));
}

const searxng = z.lazy(() =>
  z.object({
    results: z.array(z.object({ title: text, url: z.string(), content: text })),
  }),
);

async function searchSearxng(
  access: SearchProviderAccess,
  query: string,
  options: WebSearchOptions,
  signal: AbortSignal,
) {
  if (access.settings.baseUrl === undefined)
    throw new ToolFailure(
      'The search failed: SearXNG needs webSearch.baseUrl in the settings, the address of your instance.',
    );
  const url = createAddress(access, access.settings.baseUrl, '/search');
  url.searchParams.set('q', addSiteOperators(query, options));
  url.searchParams.set('format', 'json');
  const headers = { accept: 'application/json', ...(access.key && { authorization: `Bearer ${access.key}` }) };
  const { results } = searxng.parse(
    await request(access, url, { headers, signal }, { 403: 'its setting search.formats has to allow json' }),
  );
  return createFound(results.map(({ content, ...page }) => ({ ...page, text: content })));
}

const printed = z.lazy(() =>
  z.object({
    answer: z.string().optional(),
    results: z.array(z.object({ title: text, url: z.string(), text })).default([]),
  }),
);

/** Runs a command of the user. It gets the query as JSON on stdin and prints results as JSON, or text. */
async function runSearchCommand(
  { settings: { command = '' }, variables }: SearchProviderAccess,
  query: string,
  options: WebSearchOptions,
  signal: AbortSignal,
): Promise<Found> {
  if (command.trim() === '') throw new ToolFailure('The search failed: webSearch.command is missing in the settings.');
  const end = await runShellCommand('sh', command, {
    env: variables,
    input: JSON.stringify({ query, ...options }),
    timeoutMs: COMMAND_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    signal,
    check: startOutsideWorkspace,
    use: 'reads',
  });
  const output = readOutput(() => requireProgramOutput('webSearch.command', end));
  if (!output.trimStart().startsWith('{')) return { answer: output.trim(), pages: [] };
  const { answer = '', results } = readOutput(() => printed.parse(JSON.parse(output)));
  return createFound(results, answer);
}

function readOutput<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    throw new ToolFailure(`The search failed: ${getErrorMessage(cause)}`, { cause });
  }
}

function createAddress({ settings: { baseUrl } }: SearchProviderAccess, standard: string, path: string): URL {
  return new URL(`${(baseUrl ?? standard).replace(/(?<!\/)\/+$/, '')}${path}`);
}

const createJsonBody = (body: object) => ({ method: 'POST', body: JSON.stringify(body) });

function requireKey({ key, settings: { provider } }: SearchProviderAccess): string {
  if (key !== undefined && key !== '') return key;
  const variable = SEARCH_KEY_VARIABLES[provider] ?? 'a variable';
  throw new ToolFailure(
    `The search failed: ${provider} needs a key. The user has to set ${variable}, or webSearch.apiKeyEnv in the settings.`,
  );
}

/** Sends a request and returns its JSON; a failure names the provider and the status, never what was sent. */
async function request(
  { settings: { provider }, send, key }: SearchProviderAccess,
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
  hints: Readonly<Record<number, string>> = {},
): Promise<unknown> {
  const fail = (why: string, cause?: unknown) => {
    const shown = key === undefined || key === '' ? why : why.replaceAll(key, '[secret]');
    return new ToolFailure(`The search failed: ${provider} (${url.host}) ${shown}.`, { cause });
  };
  const signal = AbortSignal.any([init.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answer = await send(url.href, { ...init, signal, redirect: 'error' }).catch((cause: unknown) => {
    init.signal.throwIfAborted();
    throw fail(`could not be reached: ${getErrorMessage(cause)}`, cause);
  });
  const body = (await answer.text()).slice(0, MAX_RESPONSE_CHARS);
  if (!answer.ok) {
    const hint = hints[answer.status] ?? STATUS_HINTS[answer.status];
    throw fail(`answered with status ${answer.status}${hint === undefined ? '' : `: ${hint}`}`);
  }
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw fail('did not answer with JSON', cause);
  }
}

const STATUS_HINTS: Readonly<Record<number, string>> = {
  401: 'the key is not accepted',
  403: 'the key may not be used for this',
  422: 'the key or the query is not accepted',
  429: 'too many searches; try again later',
};

/** Adds domains to the query, for providers that have no field for them. */
function addSiteOperators(query: string, { allowedDomains = [], blockedDomains = [] }: WebSearchOptions): string {
  const allowed = allowedDomains.map((domain) => `site:${domain}`).join(' OR ');
  const blocked = blockedDomains.map((domain) => `-site:${domain}`).join(' ');
  return [query, allowed, blocked].filter((part) => part !== '').join(' ');
}

/** Returns whether a page is on an allowed domain, whatever the provider made of the domains. */
function isAllowed({ url }: WebSearchSource, { allowedDomains, blockedDomains = [] }: WebSearchOptions): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  const isOn = (domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);
  return !blockedDomains.some(isOn) && (allowedDomains === undefined || allowedDomains.some(isOn));
}

const createFound = (pages: readonly Page[], answer = ''): Found => ({ answer, pages });

function formatPage({ title, url, text: content }: Page): string {
  const plain = content.replaceAll(/<\/?(?:strong|b|em|i|mark)>/g, '').trim();
  return `## ${title}\n${url}\n${plain.slice(0, MAX_TEXT_CHARS)}`.trim();
}
