import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { ResultBlock } from '../../contracts/message.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { findHungMount } from '../../permissions/resolve-path.ts';
import { type AttachMentionedFilesDeps, attachMentionedFiles } from '../../prompt/attach-mentioned-files.ts';
import { readFileWithEditor } from '../../tools/files/editor-files.ts';
import { readFileBytes } from '../../tools/files/read-bytes.ts';
import { renderMedia } from '../../tools/read/media.ts';
import type { Core } from '../core.ts';
import type { McpServers } from '../mcp/servers.ts';
import { canReadUnasked } from '../permissions/host-file-access.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';

const READ_TIMEOUT_MS = 30_000;

type MentionDeps = {
  readonly permissions: Pick<SessionPermissions, 'getPolicy' | 'fs'>;
  readonly mcp: Pick<McpServers, 'readMention'>;
};

/** Creates the expansion of `@` mentions. Unresolved mentions are reported, except on the screen, which asks first. */
export function createMentionExpander(
  { cwd, environment, options, mounts, bus }: Core,
  { permissions, mcp }: MentionDeps,
): Required<Pick<Conversation, 'expandPrompt' | 'listUnresolvedMentions'>> {
  const parts: AttachMentionedFilesDeps = {
    cwd,
    home: environment.home,
    readResource: mcp.readMention,
    mayRead: (path) => canReadUnasked(path, { permissions, cwd }),
    findHungMount: (path) => findHungMount(path, { cwd, home: environment.home }, mounts),
    showMedia: readMedia,
    async readText(path) {
      const { bytes } = await readFileWithEditor(path, options.host?.files, AbortSignal.timeout(READ_TIMEOUT_MS));
      return Buffer.from(bytes).toString('utf8');
    },
  };
  return {
    async expandPrompt(text, images = []): Promise<Prompt> {
      const { prompt, problems } = await attachMentionedFiles(text, images, parts);
      if (options.frontend !== 'screen')
        for (const problem of problems)
          void bus.emit({ type: 'notice', level: 'warn', topic: 'mention', text: problem });
      return prompt;
    },
    listUnresolvedMentions: async (text) => (await attachMentionedFiles(text, [], parts)).problems,
  };
}

async function readMedia(path: string): Promise<readonly ResultBlock[] | string | undefined> {
  try {
    const { bytes } = await readFileBytes(path, AbortSignal.timeout(READ_TIMEOUT_MS));
    const shown = await renderMedia(path, bytes);
    // The text block notes the size for tool calls, which a mention does not need.
    return typeof shown?.content === 'object' ? shown.content.filter(({ type }) => type !== 'text') : undefined;
  } catch (thrown) {
    if (thrown instanceof ToolFailure) return thrown.message;
    throw thrown;
  }
}
