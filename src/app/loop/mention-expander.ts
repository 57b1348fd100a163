import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { ResultBlock, UserBlock } from '../../contracts/message.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { MOUNT_NOT_ANSWERING } from '../../lib/files/mount-health.ts';
import { wrapInReminder } from '../../lib/text/reminder.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import { findHungMount } from '../../permissions/resolve-path.ts';
import { readFileWithEditor } from '../../tools/files/editor-files.ts';
import { readFileBytes } from '../../tools/files/read-bytes.ts';
import { renderMedia } from '../../tools/read/media.ts';
import type { Core } from '../core.ts';
import { canReadUnasked } from '../permissions/host-file-access.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';

const READ_TIMEOUT_MS = 30_000;

type MentionDeps = {
  readonly permissions: SessionPermissions;
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

const MAX_BYTES = 100_000;
const MAX_FILES = 20;
const MEDIA = /\.(?:png|jpe?g|gif|webp|pdf)$/i;

/** The dependencies of `attachMentionedFiles`. @internal Exported for tests. */
export type AttachMentionedFilesDeps = {
  /** Base of relative paths: the folder of the session, not the current directory of its shell. */
  readonly cwd: string;
  readonly home: string;
  /** Returns the text of a file, with the unsaved changes of a connected editor. */
  readonly readText: (path: string) => Promise<string>;
  /** Returns whether a path may be read without asking. */
  readonly mayRead: (path: string) => boolean;
  /** Returns the mount that a path leads into and that does not answer. */
  readonly findHungMount: (path: string) => Promise<string | undefined>;
  /** Returns an image or document as blocks, a message when it cannot be shown, or `undefined` for other files. */
  readonly showMedia: (path: string) => Promise<readonly ResultBlock[] | string | undefined>;
  /** Returns the content of an MCP resource `server:uri`; `undefined` when the mention is not one. */
  readonly readResource: (mention: string) => Promise<string | undefined>;
};

/** A prompt with its attachments, and messages about mentions that could not be attached. */
type PromptWithAttachments = { readonly prompt: Prompt; readonly problems: readonly string[] };

/**
 * Attaches the files mentioned with @ to a prompt, so that the model need not read them; the text stays unchanged.
 * @internal Exported for tests.
 */
export async function attachMentionedFiles(
  text: string,
  images: readonly { readonly mediaType: string; readonly data: string }[],
  deps: AttachMentionedFilesDeps,
): Promise<PromptWithAttachments> {
  const mentioned = [...new Set(findMentions(text))].slice(0, MAX_FILES);
  const attachments = await Promise.all(mentioned.map((name) => attachMention(name, deps)));
  const blocks: UserBlock[] = [
    ...images.map(
      ({ mediaType, data }): UserBlock => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data } }),
    ),
    { type: 'text', text },
    ...attachments.flatMap((attachment) => (typeof attachment === 'string' ? [] : attachment)),
  ];
  const problems = attachments.filter((attachment) => typeof attachment === 'string');
  return { prompt: blocks.length === 1 ? text : blocks, problems };
}

/** Finds `@path`, `@"path with spaces"` and `@path#L10-20` at the start of a word. */
function findMentions(text: string): readonly string[] {
  const matches = text.matchAll(/(?<=^|[\s(（，。、])@(?:"([^"]+)"|([^\s"]+))/g);
  return [...matches].map(([, quoted, plain = '']) => quoted ?? plain.replace(/(?<![.,;:!?)])[.,;:!?)]+$/, ''));
}

/** Returns the blocks for a mention, or a message why there are none. */
async function attachMention(mention: string, deps: AttachMentionedFilesDeps): Promise<readonly UserBlock[] | string> {
  const { cwd, home, mayRead } = deps;
  const resource = await deps.readResource(mention);
  if (resource !== undefined) return createReminderBlocks(resource);
  const [, name = mention, from, to] = /^(.*?)(?:#L(\d+)(?:-(\d+))?)?$/.exec(mention) ?? [];
  const path = resolve(cwd, name.startsWith('~/') ? `${home}/${name.slice(2)}` : name);
  const hung = await deps.findHungMount(path);
  if (hung !== undefined) return `@${mention} is not attached: it is in ${hung}, and ${MOUNT_NOT_ANSWERING}.`;
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return (await isMeantAsPath(mention, cwd)) ? `@${mention} was not found.` : [];
  if (!mayRead(path)) return `@${mention} may not be read here, so it is not attached.`;
  if (stats.isDirectory()) {
    const names = (await readdir(path, { withFileTypes: true }).catch(() => [])).map(
      (entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
    return createReminderBlocks(`The folder ${name} holds: ${names.slice(0, 200).join(', ')}`);
  }
  const media = stats.isFile() && MEDIA.test(name) ? await deps.showMedia(path) : undefined;
  if (typeof media === 'string') return media;
  if (media !== undefined)
    return [...createReminderBlocks(`The user named ${name}. It comes with this message.`), ...media];
  if (!stats.isFile())
    return `@${mention} is not attached: it is a device, a pipe or a socket, which could be read for ever.`;
  const describeTooLarge = (bytes: number) =>
    createReminderBlocks(`${name} is too large to come along (${bytes} bytes). Read the parts you need.`);
  if (stats.size > MAX_BYTES) return describeTooLarge(stats.size);
  const text = await deps.readText(path).catch(() => undefined);
  // Files of the kernel have no size.
  if (text !== undefined && text.length > MAX_BYTES) return describeTooLarge(text.length);
  if (text === undefined || text.includes('\0')) return `@${mention} is not a text file, so it is not attached.`;
  const lines = text.split('\n');
  const first = from === undefined ? 1 : Number(from);
  const last = to === undefined ? (from === undefined ? lines.length : first) : Number(to);
  const shown = lines.slice(first - 1, last).map((line, index) => `${first + index}\t${line}`);
  return createReminderBlocks(`The user named ${name}. Its content:\n${shown.join('\n')}`);
}

function createReminderBlocks(text: string): readonly UserBlock[] {
  return [{ type: 'text', text: wrapInReminder(text) }];
}

/** Returns whether a mention is meant as a path, and not as the name of a person, a package or a decorator. */
async function isMeantAsPath(mention: string, cwd: string): Promise<boolean> {
  if (/[()'"`{}<>=;,|*$]/.test(mention)) return false;
  if (/#L\d/.test(mention) || /^(?:~|\.{1,2}|[a-z]:)?[\\/]/i.test(mention)) return true;
  if (/\.[A-Za-z]\w{0,7}$/.test(mention)) return true;
  const [first = '', ...below] = mention.split('/');
  if (below.length !== 1) return below.length > 1;
  return (await stat(resolve(cwd, first)).catch(() => undefined)) !== undefined;
}
