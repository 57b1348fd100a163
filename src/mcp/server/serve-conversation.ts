import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type {
  CallToolResult,
  CompleteRequest,
  GetPromptResult,
  PromptMessage,
  ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type {
  HostControlPort,
  McpServedTool,
  ServedCallOutcome,
  ServedToolCallContext,
} from '../../contracts/frontend/host-capabilities.ts';
import type { UserBlock } from '../../contracts/message.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import type { ToolProgress } from '../../contracts/tool.ts';
import { watchFolder } from '../../lib/files/file-change-detector.ts';
import { parseFileUri } from '../../lib/files/file-uri.ts';
import { createMcpServer, type ServedCallContext, type ServedFeatures } from './mcp-server.ts';
import { serveMcpOverHttp } from './serve-mcp-over-http.ts';

/** Serves a session as an MCP server: over stdio, or over loopback HTTP to clients with the token. */
export async function serveConversationOverMcp(
  conversation: Conversation,
  target: Parameters<HostControlPort['serve']>[0],
): ReturnType<HostControlPort['serve']> {
  const definition = createConversationServer(conversation);
  const closed = Promise.withResolvers<void>();
  if (target.over === 'http') {
    const { url } = await serveMcpOverHttp(definition, target);
    return { url, closed: closed.promise };
  }
  const server = createMcpServer(definition);
  server.onclose = closed.resolve;
  process.stdin.once('end', () => void server.close());
  await server.connect(new StdioServerTransport());
  return { url: undefined, closed: closed.promise };
}

/** Creates the MCP server of a session: tools behind the permission gate, commands and skills, and files. */
export function createConversationServer(conversation: Conversation): ServedFeatures {
  const { info, control } = conversation;
  const { version, folder } = info();
  const files = createFileResources(conversation);
  return {
    name: 'ouro',
    version,
    instructions: `The tools work in ${folder}; paths are absolute. What the rules of ouro do not allow is asked where you can ask, and refused where you cannot.`,
    tools: () =>
      control.listServedTools().map(({ spec: { name, description, input_schema: schema }, label, kind }) => ({
        name,
        title: label,
        description,
        inputSchema: { ...schema, type: 'object' as const },
        annotations: ANNOTATIONS[kind],
      })),
    async call(name, input, call) {
      if (control.listServedTools().every(({ spec }) => spec.name !== name)) return undefined;
      const caller = { signal: call.signal, report: createProgressReporter(call), ask: createClientApproval(call) };
      return convertOutcome(await control.callServedTool(name, input, caller));
    },
    prompts: createServedPrompts(conversation),
    resources: files,
    complete: files.complete,
  };
}

const ANNOTATIONS: Readonly<Record<McpServedTool['kind'], ToolAnnotations>> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  changes: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  runs: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

/** Creates the function that sends a call's reports as progress with an increasing count. */
function createProgressReporter({ reportProgress }: ServedCallContext): (report: ToolProgress) => void {
  let steps = 0;
  return (report) => {
    steps += 1;
    const message = formatReport(report);
    reportProgress({ progress: steps, ...(message === '' ? {} : { message }) });
  };
}

function formatReport(report: ToolProgress): string {
  if (report.kind === 'output') return report.tail.at(-1) ?? '';
  return report.kind === 'note' ? report.text : report.line;
}

function convertOutcome({ end, content }: ServedCallOutcome): CallToolResult {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return {
    content: blocks.map((block) => {
      if (block.type === 'text') return { type: 'text', text: block.text };
      const { media_type: mimeType, data } = block.source;
      if (block.type === 'image') return { type: 'image', mimeType, data };
      return { type: 'resource', resource: { uri: 'ouro://result', mimeType, blob: data } };
    }),
    ...(end === 'done' ? {} : { isError: true }),
  };
}

const ALLOW = 'yes';
const DENY = 'no';

/** Creates the function that asks the client's user about a call no rule allows; absent when the client cannot ask. */
export function createClientApproval({ ask }: ServedCallContext): ServedToolCallContext['ask'] {
  if (ask === undefined) return undefined;
  return async (request) => {
    const { action, content } = await ask({
      message: formatQuestion(request),
      requestedSchema: {
        type: 'object',
        properties: {
          answer: {
            type: 'string',
            title: 'Allow this call?',
            oneOf: [
              { const: ALLOW, title: 'Yes, once' },
              { const: DENY, title: 'No' },
            ],
          },
        },
        required: ['answer'],
      },
    });
    if (action === 'accept' && content?.answer === ALLOW) return { behavior: 'allow' };
    return { behavior: 'deny' };
  };
}

function formatQuestion({ toolName, title, facts, reasons, risks = [] }: PermissionRequest): string {
  const explanations = [...risks.map(({ text }) => text), ...reasons];
  const input = JSON.stringify(facts.input, null, 2);
  const preview = input.length > PREVIEW_CHARS ? `${input.slice(0, PREVIEW_CHARS).toWellFormed()}… (cut)` : input;
  return [`ouro asks to run ${toolName}: ${title}`, preview, ...explanations].join('\n');
}

const PREVIEW_CHARS = 2_000;

const ARGUMENT = 'arguments';

/** Creates the prompts for the commands and skills of the project and the user. */
export function createServedPrompts({ commands, runCommand }: Conversation): NonNullable<ServedFeatures['prompts']> {
  const listOffered = () => commands().filter(({ source }) => source !== 'builtin' && source !== 'mcp');
  return {
    list: async () =>
      listOffered().map(({ name, description, argumentHint }) => ({
        name,
        description,
        arguments: [{ name: ARGUMENT, description: argumentHint ?? 'Arguments of the command', required: false }],
      })),
    async get(name, args): Promise<GetPromptResult | string> {
      const command = listOffered().find((candidate) => candidate.name === name);
      if (command === undefined) return `There is no prompt ${name}.`;
      const outcome = await runCommand(`${name} ${args[ARGUMENT] ?? ''}`.trim());
      if (outcome.kind === 'failed') return outcome.message;
      if (outcome.kind !== 'prompt') return `${name} has no prompt for a model.`;
      return { description: command.description, messages: outcome.blocks.flatMap(convertToPrompt) };
    },
  };
}

function convertToPrompt(block: UserBlock): readonly PromptMessage[] {
  if (block.type === 'text') return [{ role: 'user', content: { type: 'text', text: block.text } }];
  if (block.type !== 'image' || block.source.type !== 'base64') return [];
  const { media_type: mimeType, data } = block.source;
  return [{ role: 'user', content: { type: 'image', mimeType, data } }];
}

const PAGE_SIZE = 200;
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_FILES = 100_000;
const MAX_COMPLETIONS = 100;

type FileResources = NonNullable<ServedFeatures['resources']> & {
  readonly complete: (params: CompleteRequest['params']) => Promise<readonly string[]>;
};

/** Creates the resources for the files of the session's folder that the Read tool may read without asking. */
function createFileResources({ findFiles, control, info }: Conversation): FileResources {
  const { folder } = info();
  const template = `${pathToFileURL(folder).href}/{+path}`;
  const readFile = (path: string) => control.readFile(path, MAX_BYTES);
  return {
    async list(offset) {
      const paths = (await findFiles('', MAX_FILES)).filter((path) => !path.endsWith('/'));
      const resources = paths
        .slice(offset, offset + PAGE_SIZE)
        .map((path) => ({ uri: getFileUri(folder, path), name: path }));
      return { resources, ...(paths.length > offset + PAGE_SIZE ? { next: offset + PAGE_SIZE } : {}) };
    },
    templates: () => [
      { uriTemplate: template, name: 'A file', description: `A file in ${folder}, addressed by its relative path.` },
    ],
    async read(uri) {
      const path = parseFileUri(uri);
      if (path === undefined) return `${uri} is not a file address.`;
      const file = await readFile(path);
      if (!file.ok) return file.problem;
      if (file.truncated) return `${uri} is larger than ${MAX_BYTES} bytes.`;
      const text = decodeText(file.bytes);
      const blob = { uri, mimeType: 'application/octet-stream', blob: Buffer.from(file.bytes).toString('base64') };
      return { contents: [text === undefined ? blob : { uri, mimeType: 'text/plain', text }] };
    },
    watch(uri, onChange) {
      const path = parseFileUri(uri);
      return path === undefined ? () => undefined : watchFolder(dirname(path), onChange, basename(path));
    },
    complete: async ({ ref, argument }) =>
      ref.type === 'ref/resource' && ref.uri === template ? findFiles(argument.value, MAX_COMPLETIONS) : [],
  };
}

function getFileUri(folder: string, path: string): string {
  return pathToFileURL(resolve(folder, path)).href;
}

/** Decodes UTF-8 text; `undefined` for binary data. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
