import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { ResultBlock } from '../../contracts/message.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { type ExpandPromptParts, expandPrompt } from '../../prompt/expand-prompt.ts';
import { readFileBytes } from '../../tools/file-bytes.ts';
import { showMedia } from '../../tools/read/media.ts';
import type { Core } from '../core.ts';
import type { McpServers } from '../mcp/servers.ts';
import type { Permissions } from '../permissions/permissions.ts';
import { mayReadUnasked } from '../permissions/read-for-host.ts';

const PATIENCE_MS = 30_000;

type Needs = { readonly permissions: Pick<Permissions, 'policy'>; readonly mcp: Pick<McpServers, 'mentioned'> };

/** Prompts with the files they name by `@`. What is named in vain is told; a screen asks beforehand instead. */
export function createMentions(
  { cwd, environment, options, bus }: Core,
  { permissions, mcp }: Needs,
): Required<Pick<Conversation, 'expandPrompt' | 'unfoundMentions'>> {
  const parts: ExpandPromptParts = {
    cwd,
    home: environment.home,
    readResource: mcp.mentioned,
    mayRead: (path) => mayReadUnasked(path, { permissions, cwd }),
    showMedia: mediaOf,
  };
  return {
    async expandPrompt(words, images = []): Promise<Prompt> {
      const { prompt, problems } = await expandPrompt(words, images, parts);
      if (options.face !== 'screen')
        for (const text of problems) void bus.tell({ type: 'notice', level: 'warn', topic: 'mention', text });
      return prompt;
    },
    unfoundMentions: async (words) => (await expandPrompt(words, [], parts)).problems,
  };
}

async function mediaOf(path: string): Promise<readonly ResultBlock[] | string | undefined> {
  try {
    const { bytes } = await readFileBytes(path, AbortSignal.timeout(PATIENCE_MS));
    const shown = await showMedia(path, bytes);
    // The note about its size is for who called a tool.
    return typeof shown?.content === 'object' ? shown.content.filter(({ type }) => type !== 'text') : undefined;
  } catch (thrown) {
    if (thrown instanceof ToolFailure) return thrown.message;
    throw thrown;
  }
}
