import { type Dict, isDict, isText } from './values.ts';

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const TOOL_FIELDS = [
  'type',
  'name',
  'description',
  'input_schema',
  'cache_control',
  'strict',
  'defer_loading',
  'allowed_callers',
  'input_examples',
  'eager_input_streaming',
];
const COMBINATORS = ['oneOf', 'allOf', 'anyOf'];

/** The rules about the tools on offer. */
export function violationOfTools(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return 'tools: Input should be a valid list';
  const names = new Set<string>();
  for (const [at, tool] of value.entries()) {
    if (!isDict(tool) || !isText(tool.name)) return `tools.${at}.name: Field required`;
    if (names.has(tool.name)) return 'tools: Tool names must be unique.';
    names.add(tool.name);
    const found =
      tool.type === undefined || tool.type === 'custom' ? customTool(tool, `tools.${at}.custom`) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function customTool(tool: Dict, path: string): string | undefined {
  if (!TOOL_NAME.test(String(tool.name))) return `${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
  const extra = Object.keys(tool).find((key) => !TOOL_FIELDS.includes(key));
  if (extra !== undefined) return `${path}.${extra}: Extra inputs are not permitted`;
  if (tool.description !== undefined && !isText(tool.description))
    return `${path}.description: Input should be a valid string`;
  const schema = tool.input_schema;
  if (!isDict(schema)) return `${path}.input_schema: Field required`;
  if (schema.type !== 'object') return `${path}.input_schema.type: Input should be 'object'`;
  if (COMBINATORS.some((word) => schema[word] !== undefined))
    return `${path}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  const required = schema.required;
  return required === undefined || (Array.isArray(required) && required.every(isText))
    ? undefined
    : `${path}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`;
}

/** The rules about the choice between the tools. */
export function violationOfToolChoice(body: Dict): string | undefined {
  const choice = body.tool_choice;
  if (choice === undefined) return undefined;
  if (!isDict(choice) || !['auto', 'any', 'tool', 'none'].includes(String(choice.type)))
    return 'tool_choice: Input tag is not valid';
  if (!Array.isArray(body.tools) || body.tools.length === 0)
    return 'tool_choice: may only be specified while providing tools';
  if (choice.type !== 'tool') return undefined;
  const isOffered = body.tools.some((tool) => isDict(tool) && tool.name === choice.name);
  return isOffered ? undefined : `tool_choice: Tool '${String(choice.name)}' not found in provided tools`;
}

/** Thinking types that models do not support; the first matching pattern applies. */
const THINKING_REFUSED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/opus-5-5|fable|mythos/, ['enabled', 'disabled', 'between_tools']],
  [/sonnet-5-5/, ['enabled', 'disabled']],
  [/claude-[a-z]+-(5|4-[78])/, ['enabled', 'between_tools']],
  [/claude-[a-z]+-4-6/, ['between_tools']],
  [/claude-/, ['adaptive', 'between_tools']],
];

/** The rules about asking the model to think. */
export function violationOfThinking(body: Dict): string | undefined {
  const value = body.thinking;
  if (value === undefined) return undefined;
  if (!isDict(value) || !['enabled', 'disabled', 'adaptive', 'between_tools'].includes(String(value.type)))
    return 'thinking: Input tag is not valid';
  const refused = THINKING_REFUSED.find(([pattern]) => pattern.test(String(body.model)))?.[1];
  if (refused?.includes(String(value.type)) === true)
    return `"thinking.type.${String(value.type)}" is not supported for this model.`;
  const extra = Object.keys(value).find((key) => !['type', 'budget_tokens', 'display'].includes(key));
  if (extra !== undefined) return `thinking.${extra}: Extra inputs are not permitted`;
  if (value.type === 'disabled' || value.type === 'between_tools') return undefined;
  if (body.temperature !== undefined && body.temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled';
  if (body.top_k !== undefined) return '`top_k` must be unset when thinking is enabled';
  if (isDict(body.tool_choice) && (body.tool_choice.type === 'any' || body.tool_choice.type === 'tool'))
    return 'Thinking may not be enabled when tool_choice forces tool use.';
  return value.type === 'enabled' ? budget(value.budget_tokens, body.max_tokens) : undefined;
}

function budget(tokens: unknown, max: unknown): string | undefined {
  if (typeof tokens !== 'number') return 'thinking.enabled.budget_tokens: Field required';
  if (tokens < 1024) return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
  return typeof max === 'number' && tokens >= max
    ? '`max_tokens` must be greater than `thinking.budget_tokens`'
    : undefined;
}
