import type { JsonObject } from '../../contracts/json.ts';
import type {
  AssistantBlock,
  DocumentBlock,
  ImageBlock,
  ResultBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../../contracts/message.ts';
import type { Effort, ModelFailure, ModelRequest, RequestMessage } from '../../contracts/model.ts';
import { chatName } from '../wire/openai-names.ts';
import { objectOf, parseJson, textOf } from '../wire/wire-json.ts';

/** What a model wants otherwise than most: learnt from what is refused, kept for the model. */
export type GeminiForm = {
  readonly thinking: 'asked' | 'as it likes' | 'left out';
  /** Pictures stand inside the results they belong to, or behind them. */
  readonly pictures: 'inside results' | 'behind results';
};

export const USUAL_GEMINI_FORM: GeminiForm = { thinking: 'asked', pictures: 'inside results' };

/** The body of one `generateContent`. The same request always gives the same bytes. */
export function toGemini(request: ModelRequest, form: GeminiForm): JsonObject {
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== '');
  const generation = generationOf(request.model);
  const thinkingConfig = form.thinking === 'left out' ? undefined : thinkingField(request, form, generation);
  const names = new Map(request.messages.flatMap(callNames));
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    ...(request.tools.length > 0 && {
      tools: [
        {
          functionDeclarations: request.tools.map(({ name, description, input_schema }) => ({
            name: chatName(name),
            description,
            parametersJsonSchema: input_schema,
          })),
        },
      ],
    }),
    ...(request.forcedTool && {
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [chatName(request.forcedTool)] } },
    }),
    contents: request.messages.flatMap((message) => contentsOf(message, { names, form, generation })),
    generationConfig: { maxOutputTokens: request.maxOutputTokens, ...(thinkingConfig && { thinkingConfig }) },
  };
}

/** The form to try after a refusal that speaks of a field; `undefined` when nothing about it can be changed. */
export function geminiFormAfter(form: GeminiForm, { kind, message }: ModelFailure): GeminiForm | undefined {
  if (kind !== 'invalid') return undefined;
  if (/functionResponse|function.response/i.test(message) && /parts|inline.?data|multimodal/i.test(message)) {
    return form.pictures === 'inside results' ? { ...form, pictures: 'behind results' } : undefined;
  }
  if (!/thinking/i.test(message)) return undefined;
  if (form.thinking === 'asked') return { ...form, thinking: 'as it likes' };
  return form.thinking === 'as it likes' ? { ...form, thinking: 'left out' } : undefined;
}

/** `gemini-3.1-pro` is 3.1; a name that says none is that of a model that cannot be told how to think. */
function generationOf(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
}

/** From the third generation on it is told by a level, before by a number of tokens, and in the beginning not at all. */
function thinkingField(
  { effort, model }: ModelRequest,
  { thinking }: GeminiForm,
  generation: number,
): JsonObject | undefined {
  if (generation < 2.5) return undefined;
  const shown = { includeThoughts: true };
  if (effort === 'auto' || thinking === 'as it likes') return shown;
  // The largest always think a little.
  const isLarge = model.includes('pro');
  if (generation >= 3) return { ...shown, thinkingLevel: effort === 'off' && isLarge ? 'low' : LEVELS[effort] };
  const least = isLarge ? 128 : 0;
  return { ...shown, thinkingBudget: Math.max(least, BUDGETS[effort]) };
}

type Told = Exclude<Effort, 'auto'>;
const LEVELS: Readonly<Record<Told, string>> = {
  off: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};
const BUDGETS: Readonly<Record<Told, number>> = {
  off: 0,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

type Surroundings = {
  /** Results name the tool that they are of. */
  readonly names: ReadonlyMap<string, string>;
  readonly form: GeminiForm;
  readonly generation: number;
};

function callNames({ blocks }: RequestMessage): readonly (readonly [string, string])[] {
  return blocks.flatMap((block) => (block.type === 'tool_use' ? [[block.id, chatName(block.name)] as const] : []));
}

function contentsOf(message: RequestMessage, around: Surroundings): readonly JsonObject[] {
  if (message.role === 'assistant') {
    const parts = partsOfReply(message.blocks, around.generation);
    return parts.length === 0 ? [] : [{ role: 'model', parts }];
  }
  const results = message.blocks.filter((block) => block.type === 'tool_result');
  const behind = around.form.pictures === 'behind results' || around.generation < 3 ? results.flatMap(mediaOf) : [];
  const said = message.blocks.flatMap((block) => (block.type === 'tool_result' ? [] : [partOf(block)]));
  const parts = [...behind.map(mediaPart), ...said];
  return [
    // Results are counted against the calls, so nothing else stands among them.
    ...(results.length > 0 ? [{ role: 'user', parts: results.map((block) => resultPart(block, around)) }] : []),
    ...(parts.length > 0 ? [{ role: 'user', parts }] : []),
  ];
}

/** What it thought is not sent back as words: the signatures of its calls hold all of it. */
function partsOfReply(blocks: readonly AssistantBlock[], generation: number): readonly JsonObject[] {
  const calls = blocks.filter((block) => block.type === 'tool_use');
  const isForeign = generation >= 3 && calls.every(({ signature }) => signature === undefined);
  return blocks.flatMap((block): readonly JsonObject[] => {
    if (block.type === 'text') {
      return [{ text: block.text, ...(block.signature && { thoughtSignature: block.signature }) }];
    }
    if (block.type !== 'tool_use') return [];
    const signature = signatureOf(block) ?? (isForeign && block === calls[0] ? NOT_ITS_OWN : undefined);
    return [{ functionCall: callOf(block), ...(signature && { thoughtSignature: signature }) }];
  });
}

/** What Google names for the calls of other models, which have none of its signatures. */
const NOT_ITS_OWN = 'skip_thought_signature_validator';

function callOf({ id, name, input, unparsed }: ToolUseBlock): JsonObject {
  const args = unparsed === undefined ? (objectOf(input) ?? { value: input }) : { unparsed };
  return { id, name: chatName(name), args };
}

/** As it came, or as the same model's chat completions wrapped it. */
function signatureOf({ signature }: ToolUseBlock): string | undefined {
  if (signature === undefined) return undefined;
  const wrapped = objectOf(parseJson(signature));
  if (wrapped === undefined) return signature;
  return textOf(objectOf(objectOf(wrapped.extra_content)?.google)?.thought_signature);
}

function resultPart(block: ToolResultBlock, { names, form, generation }: Surroundings): JsonObject {
  const { content, tool_use_id: id, is_error } = block;
  const text =
    typeof content === 'string'
      ? content
      : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const media = form.pictures === 'inside results' && generation >= 3 ? mediaOf(block).map(mediaPart) : [];
  const response = is_error ? { error: text } : { output: text };
  const name = names.get(id) ?? 'unknown';
  return { functionResponse: { id, name, response, ...(media.length > 0 && { parts: media }) } };
}

type Media = Extract<ResultBlock, { type: 'image' | 'document' }> | ImageBlock | DocumentBlock;

function mediaOf({ content }: ToolResultBlock): readonly Media[] {
  return typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
}

function mediaPart({ source, type }: Media): JsonObject {
  if (source.type === 'base64') return { inlineData: { mimeType: source.media_type, data: source.data } };
  return { fileData: { fileUri: source.url, ...(type === 'document' && { mimeType: 'application/pdf' }) } };
}

function partOf(block: Exclude<UserBlock, ToolResultBlock>): JsonObject {
  return block.type === 'text' ? { text: block.text } : mediaPart(block);
}
