import type { JsonObject } from '../../../contracts/json.ts';
import {
  type AssistantBlock,
  type DocumentBlock,
  type ImageBlock,
  joinTextBlocks,
  type ResultBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  type UserBlock,
} from '../../../contracts/message.ts';
import type { Effort, ModelFailure, ModelRequest, RequestMessage } from '../../../contracts/model.ts';
import { parseGeminiGeneration } from '../../efforts.ts';
import { narrowToObject, narrowToString, parseNetworkJson } from '../../stream/json-values.ts';
import { shortenToolName } from '../tool-identifiers.ts';

/** Request variant that a model accepts, learned from rejected requests. */
export type GeminiRequestVariant = {
  /** Thinking config: with the requested effort, with the model's default, or none. */
  readonly thinking: 'requested' | 'model default' | 'omitted';
  /** Images are part of the tool results they belong to, or follow them. */
  readonly images: 'inside results' | 'after results';
};

/** Request variant that most models accept. */
export const DEFAULT_GEMINI_REQUEST_VARIANT: GeminiRequestVariant = { thinking: 'requested', images: 'inside results' };

/** Builds the body of a `generateContent` request. The same request always gives the same bytes. */
export function buildGeminiRequest(request: ModelRequest, variant: GeminiRequestVariant): JsonObject {
  const system = [...request.system.map(({ text }) => text), formatDomains(request)].filter(
    (text) => text.trim() !== '',
  );
  const generation = parseGeminiGeneration(request.model);
  const thinkingConfig = variant.thinking === 'omitted' ? undefined : buildThinkingConfig(request, variant, generation);
  const callNames = new Map(request.messages.flatMap(listCallNames));
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    // Only for requests without functions: not every model takes both.
    ...(request.webSearch && { tools: [{ google_search: {} }] }),
    ...(request.tools.length > 0 && {
      tools: [
        {
          functionDeclarations: request.tools.map(({ name, description, input_schema }) => ({
            name: shortenToolName(name),
            description,
            parametersJsonSchema: input_schema,
          })),
        },
      ],
    }),
    ...(request.forcedTool && {
      toolConfig: {
        functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [shortenToolName(request.forcedTool)] },
      },
    }),
    contents: request.messages.flatMap((message) =>
      buildContents(message, { names: callNames, variant: variant, generation }),
    ),
    generationConfig: { maxOutputTokens: request.maxOutputTokens, ...(thinkingConfig && { thinkingConfig }) },
  };
}

/** Returns the variant to try after a request was rejected for a field; `undefined` if there is none. */
export function adaptGeminiRequestVariant(
  variant: GeminiRequestVariant,
  { kind, message }: ModelFailure,
): GeminiRequestVariant | undefined {
  if (kind !== 'invalid') return undefined;
  if (/functionResponse|function.response/i.test(message) && /parts|inline.?data|multimodal/i.test(message)) {
    return variant.images === 'inside results' ? { ...variant, images: 'after results' } : undefined;
  }
  if (!/thinking/i.test(message)) return undefined;
  if (variant.thinking === 'requested') return { ...variant, thinking: 'model default' };
  return variant.thinking === 'model default' ? { ...variant, thinking: 'omitted' } : undefined;
}

/** Formats domains as an instruction, because the search has no filters. */
function formatDomains({ webSearch }: ModelRequest): string {
  const { allowedDomains = [], blockedDomains = [] } = webSearch ?? {};
  return [
    allowedDomains.length === 0 ? '' : `Search only these sites, with the operator site: ${allowedDomains.join(', ')}`,
    blockedDomains.length === 0 ? '' : `Use no pages of these sites: ${blockedDomains.join(', ')}`,
  ]
    .join('\n')
    .trim();
}

/** Builds the thinking config: a level since generation 3, a token budget since 2.5, nothing before. */
function buildThinkingConfig(
  { effort, model }: ModelRequest,
  { thinking }: GeminiRequestVariant,
  generation: number,
): JsonObject | undefined {
  if (generation < 2.5) return undefined;
  const baseConfig = { includeThoughts: true };
  if (effort === 'auto' || thinking === 'model default') return baseConfig;
  // Thinking of Pro models cannot be disabled.
  const isLarge = model.includes('pro');
  if (generation >= 3)
    return { ...baseConfig, thinkingLevel: effort === 'off' && isLarge ? 'low' : THINKING_LEVELS[effort] };
  const minBudget = isLarge ? 128 : 0;
  return { ...baseConfig, thinkingBudget: Math.max(minBudget, THINKING_BUDGETS[effort]) };
}

type ThinkingEffort = Exclude<Effort, 'auto'>;
const THINKING_LEVELS: Readonly<Record<ThinkingEffort, string>> = {
  off: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};
const THINKING_BUDGETS: Readonly<Record<ThinkingEffort, number>> = {
  off: 0,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

type MessageContext = {
  /** Tool names by call id; tool results must contain the name. */
  readonly names: ReadonlyMap<string, string>;
  readonly variant: GeminiRequestVariant;
  readonly generation: number;
};

function listCallNames({ blocks }: RequestMessage): readonly (readonly [string, string])[] {
  return blocks.flatMap((block) =>
    block.type === 'tool_use' ? [[block.id, shortenToolName(block.name)] as const] : [],
  );
}

function buildContents(message: RequestMessage, context: MessageContext): readonly JsonObject[] {
  if (message.role === 'assistant') {
    const parts = buildModelParts(message.blocks, context.generation);
    return parts.length === 0 ? [] : [{ role: 'model', parts }];
  }
  const results = message.blocks.filter((block) => block.type === 'tool_result');
  const mediaAfterResults =
    context.variant.images === 'after results' || context.generation < 3 ? results.flatMap(listMedia) : [];
  const userParts = message.blocks.flatMap((block) => (block.type === 'tool_result' ? [] : [buildUserPart(block)]));
  const parts = [...mediaAfterResults.map(buildMediaPart), ...userParts];
  return [
    // The API matches results to calls by number, so their message must contain nothing else.
    ...(results.length > 0 ? [{ role: 'user', parts: results.map((block) => buildResultPart(block, context)) }] : []),
    ...(parts.length > 0 ? [{ role: 'user', parts }] : []),
  ];
}

/** Builds the parts of a model message. Thinking is not sent back as text: the signatures of the calls contain it. */
function buildModelParts(blocks: readonly AssistantBlock[], generation: number): readonly JsonObject[] {
  const calls = blocks.filter((block) => block.type === 'tool_use');
  const isForeign = generation >= 3 && calls.every(({ signature }) => signature === undefined);
  return blocks.flatMap((block): readonly JsonObject[] => {
    if (block.type === 'text') {
      return [{ text: block.text, ...(block.signature && { thoughtSignature: block.signature }) }];
    }
    if (block.type !== 'tool_use') return [];
    const signature = readSignature(block) ?? (isForeign && block === calls[0] ? FOREIGN_SIGNATURE : undefined);
    return [{ functionCall: buildFunctionCall(block), ...(signature && { thoughtSignature: signature }) }];
  });
}

/** Signature that Google defines for calls of other models, which have no valid one. */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';

function buildFunctionCall({ id, name, input, unparsed }: ToolUseBlock): JsonObject {
  const args = unparsed === undefined ? (narrowToObject(input) ?? { value: input }) : { unparsed };
  return { id, name: shortenToolName(name), args };
}

/** Reads a signature, which is wrapped in JSON if it came through the chat completions endpoint. */
function readSignature({ signature }: ToolUseBlock): string | undefined {
  if (signature === undefined) return undefined;
  const wrapper = narrowToObject(parseNetworkJson(signature));
  if (wrapper === undefined) return signature;
  return narrowToString(narrowToObject(narrowToObject(wrapper.extra_content)?.google)?.thought_signature);
}

function buildResultPart(block: ToolResultBlock, { names, variant, generation }: MessageContext): JsonObject {
  const { content, tool_use_id: id, is_error } = block;
  const text = typeof content === 'string' ? content : joinTextBlocks(content, '\n');
  const media = variant.images === 'inside results' && generation >= 3 ? listMedia(block).map(buildMediaPart) : [];
  const response = is_error ? { error: text } : { output: text };
  const name = names.get(id) ?? 'unknown';
  return { functionResponse: { id, name, response, ...(media.length > 0 && { parts: media }) } };
}

type Media = Extract<ResultBlock, { type: 'image' | 'document' }> | ImageBlock | DocumentBlock;

function listMedia({ content }: ToolResultBlock): readonly Media[] {
  return typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
}

function buildMediaPart({ source, type }: Media): JsonObject {
  if (source.type === 'base64') return { inlineData: { mimeType: source.media_type, data: source.data } };
  return { fileData: { fileUri: source.url, ...(type === 'document' && { mimeType: 'application/pdf' }) } };
}

function buildUserPart(block: Exclude<UserBlock, ToolResultBlock>): JsonObject {
  return block.type === 'text' ? { text: block.text } : buildMediaPart(block);
}
