import { type JsonObject, narrowToObject, narrowToObjects, narrowToString } from '@ouro-cli/ouro/commands';
import type { ImageBlock, ResultBlock, TextBlock } from '@ouro-cli/ouro/sessions';
import {
  type ConversationBuilder,
  createConversationBuilder,
  createImageBlock,
  type ForeignSession,
  parseJsonLines,
} from './foreign-session.ts';

/**
 * Converts a transcript of Claude Code. Its lines are a tree: the conversation is the way from the last line to the
 * root; a compaction starts a new root.
 */
export function convertClaudeSession(text: string): ForeignSession | undefined {
  const lines = parseJsonLines(text);
  const spoken = lines.filter(
    ({ type, isSidechain }) => (type === 'user' || type === 'assistant') && isSidechain !== true,
  );
  const last = spoken.at(-1);
  const id = narrowToString(last?.sessionId);
  if (last === undefined || id === undefined) return undefined;
  const builder = createConversationBuilder(id);
  const path = listAncestors(last, lines);
  for (const [at, line] of path.entries()) if (!isLocalCommand(line, path[at + 1])) addLine(line, builder);
  const ids = new Set(lines.map(({ uuid }) => uuid));
  const titles = lines.map(({ type, customTitle, aiTitle, summary, leafUuid }) => {
    if (type === 'custom-title') return customTitle;
    if (type === 'ai-title') return aiTitle;
    // A file may hold summaries of other sessions of the project.
    return type === 'summary' && (leafUuid === undefined || ids.has(leafUuid)) ? summary : undefined;
  });
  const title = titles.flatMap((one) => narrowToString(one) ?? []).at(-1);
  const built = builder.build();
  return { id, cwd: narrowToString(spoken[0]?.cwd) ?? '', ...built, title: title ?? built.title };
}

/** Tells whether a line is a command of the program, such as /clear, or what it printed. */
function isLocalCommand(line: JsonObject, next: JsonObject | undefined): boolean {
  const getText = (one: JsonObject | undefined) => narrowToString(narrowToObject(one?.message)?.content) ?? '';
  const isOutput = (text: string) => /^\s*<local-command-std(?:out|err)>/.test(text);
  return isOutput(getText(line)) || (/^\s*<command-name>/.test(getText(line)) && isOutput(getText(next)));
}

function listAncestors(last: JsonObject, lines: readonly JsonObject[]): readonly JsonObject[] {
  const byId = new Map(lines.flatMap((line) => (typeof line.uuid === 'string' ? [[line.uuid, line] as const] : [])));
  const path: JsonObject[] = [];
  const seen = new Set<JsonObject>();
  for (let line: JsonObject | undefined = last; line !== undefined && !seen.has(line); ) {
    seen.add(line);
    path.unshift(line);
    line = byId.get(narrowToString(line.parentUuid) ?? '');
  }
  return path;
}

function addLine(line: JsonObject, builder: ConversationBuilder): void {
  const { content, model } = narrowToObject(line.message) ?? {};
  const at = narrowToString(line.timestamp);
  if (line.type === 'assistant') {
    // Messages of the program, for example about failed requests.
    if (model === '<synthetic>') return;
    for (const block of narrowToObjects(content)) addReplyBlock(block, narrowToString(model) ?? '', at, builder);
    return;
  }
  if (line.type !== 'user' || line.isMeta === true) return;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : narrowToObjects(content);
  for (const { type, tool_use_id, content: output, is_error } of blocks)
    if (type === 'tool_result')
      builder.addResult(narrowToString(tool_use_id) ?? '', readResult(output), { isError: is_error === true });
  builder.addPrompt(
    blocks.flatMap((block) => readPromptBlock(block, builder)),
    at,
  );
}

function addReplyBlock(block: JsonObject, model: string, at: string | undefined, builder: ConversationBuilder): void {
  switch (block.type) {
    case 'text':
      builder.addText(model, narrowToString(block.text) ?? '', at);
      return;
    case 'tool_use': {
      const call = {
        id: narrowToString(block.id) ?? '',
        name: narrowToString(block.name) ?? '',
        input: block.input ?? {},
      };
      builder.addCall(model, call, at);
      return;
    }
    case 'thinking':
    case 'redacted_thinking':
      builder.countLoss('thought');
      return;
    default:
      builder.countLoss('entry');
      return;
  }
}

function readPromptBlock(block: JsonObject, builder: ConversationBuilder): readonly (TextBlock | ImageBlock)[] {
  if (block.type === 'tool_result') return [];
  if (block.type === 'text') {
    const text = narrowToString(block.text) ?? '';
    // Reminders of the program.
    return text.trim() === '' || text.startsWith('<system-reminder>') ? [] : [{ type: 'text', text }];
  }
  const image = readImage(block);
  if (image === undefined) builder.countLoss('attachment');
  return image === undefined ? [] : [image];
}

function readImage({ type, source }: JsonObject): ImageBlock | undefined {
  const { media_type, data } = narrowToObject(source) ?? {};
  return type === 'image' ? createImageBlock(narrowToString(media_type) ?? '', narrowToString(data) ?? '') : undefined;
}

function readResult(output: JsonObject[string]): string | readonly ResultBlock[] {
  if (typeof output === 'string') return output;
  return narrowToObjects(output).flatMap((block): readonly ResultBlock[] => {
    if (block.type === 'text') return [{ type: 'text', text: narrowToString(block.text) ?? '' }];
    const source = readImage(block)?.source;
    return source?.type === 'base64' ? [{ type: 'image', source }] : [];
  });
}
