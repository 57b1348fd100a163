import type { ApiBlock } from './reply.ts';

type Page = { readonly url: string; readonly title: string };

/** A web search the provider ran, with what it found. */
export function webSearch(query: string, pages: readonly Page[], id = 'srvtoolu_1'): readonly ApiBlock[] {
  const found = pages.map((page) => ({
    type: 'web_search_result',
    ...page,
    encrypted_content: 'opaque',
    page_age: null,
  }));
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query } },
    { type: 'web_search_tool_result', tool_use_id: id, content: found },
  ];
}

/** A text with citations of its pages. */
export function citedText(words: string, pages: readonly Page[]): ApiBlock {
  const citations = pages.map((page) => ({
    type: 'web_search_result_location',
    ...page,
    encrypted_index: 'opaque',
    cited_text: words.slice(0, 150),
  }));
  return { type: 'text', text: words, citations };
}
