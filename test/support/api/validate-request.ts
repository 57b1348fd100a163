import type { IncomingHttpHeaders } from 'node:http';
import { violationOfMessages } from './validate-messages.ts';
import { type Dict, isDict, isText } from './values.ts';

const FIELDS = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'thinking',
  'service_tier',
  'context_management',
  'output_config',
  'container',
  'mcp_servers',
  'betas',
]);
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MAX_OUTPUT_TOKENS = 128_000;
const MAX_BREAKPOINTS = 4;

/** The first structural rule a request breaks, in the API's words; `undefined` when it breaks none. */
export function violationOf(
  body: unknown,
  headers: IncomingHttpHeaders,
  knownSignatures: ReadonlySet<string>,
): string | undefined {
  if (!headers['anthropic-version']) return 'anthropic-version: header is required';
  if (!String(headers['content-type']).startsWith('application/json')) return 'content-type: must be application/json';
  if (!isDict(body) || Object.keys(body).length === 0) return 'The request body is not valid JSON';
  const extra = Object.keys(body).find((key) => !FIELDS.has(key));
  if (extra !== undefined) return `${extra}: Extra inputs are not permitted`;
  if (
    !JSON.stringify(body).isWellFormed() ||
    /\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}/i.test(JSON.stringify(body))
  ) {
    return 'The request body is not valid JSON: no low surrogate in string';
  }
  return (
    scalars(body) ??
    system(body.system) ??
    tools(body.tools) ??
    toolChoice(body) ??
    thinking(body) ??
    breakpoints(body) ??
    violationOfMessages(body, knownSignatures)
  );
}

function scalars(body: Dict): string | undefined {
  if (!isText(body.model)) return 'model: Field required';
  if (body.model.trim() === '') return 'model: String should have at least 1 character';
  const max = body.max_tokens;
  if (max === undefined) return 'max_tokens: Field required';
  if (typeof max !== 'number' || !Number.isInteger(max)) return 'max_tokens: Input should be a valid integer';
  if (max <= 0) return 'max_tokens: Input should be greater than or equal to 1';
  if (max > MAX_OUTPUT_TOKENS)
    return `max_tokens: ${max} > ${MAX_OUTPUT_TOKENS}, which is the maximum allowed number of output tokens`;
  if (body.stream !== undefined && typeof body.stream !== 'boolean') return 'stream: Input should be a valid boolean';
  const { temperature } = body;
  if (temperature !== undefined && (typeof temperature !== 'number' || temperature < 0 || temperature > 1))
    return 'temperature: range: 0..1';
  const stops = body.stop_sequences;
  if (stops !== undefined) {
    if (!Array.isArray(stops)) return 'stop_sequences: Input should be a valid list';
    if (stops.some((stop) => !isText(stop) || stop.trim() === ''))
      return 'stop_sequences: each stop sequence must contain non-whitespace';
  }
  if (
    body.metadata !== undefined &&
    (!isDict(body.metadata) || Object.keys(body.metadata).some((key) => key !== 'user_id'))
  ) {
    return 'metadata: Extra inputs are not permitted';
  }
  return undefined;
}

function system(value: unknown): string | undefined {
  if (value === undefined || isText(value)) return undefined;
  if (!Array.isArray(value)) return 'system: Input should be a valid string or list';
  for (const [at, block] of value.entries()) {
    if (!isDict(block) || block.type !== 'text' || !isText(block.text))
      return `system.${at}: Input should be a text block`;
    if (block.text === '') return 'system: text content blocks must be non-empty';
  }
  return undefined;
}

function tools(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return 'tools: Input should be a valid list';
  const names = new Set<string>();
  for (const [at, tool] of value.entries()) {
    if (!isDict(tool) || !isText(tool.name)) return `tools.${at}.name: Field required`;
    if (names.has(tool.name)) return 'tools: Tool names must be unique.';
    names.add(tool.name);
    if (tool.type !== undefined && tool.type !== 'custom') continue;
    if (!TOOL_NAME.test(tool.name))
      return `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    if (!isDict(tool.input_schema)) return `tools.${at}.custom.input_schema: Field required`;
    if (tool.input_schema.type !== 'object') return `tools.${at}.custom.input_schema.type: Input should be 'object'`;
  }
  return undefined;
}

function toolChoice(body: Dict): string | undefined {
  const choice = body.tool_choice;
  if (choice === undefined) return undefined;
  if (!isDict(choice) || !['auto', 'any', 'tool', 'none'].includes(String(choice.type)))
    return 'tool_choice: Input tag is not valid';
  if (choice.type !== 'tool') return undefined;
  const offered = Array.isArray(body.tools) && body.tools.some((tool) => isDict(tool) && tool.name === choice.name);
  return offered ? undefined : `tool_choice: Tool '${String(choice.name)}' not found in provided tools`;
}

function thinking(body: Dict): string | undefined {
  const value = body.thinking;
  if (value === undefined) return undefined;
  if (!isDict(value) || !['enabled', 'disabled', 'adaptive'].includes(String(value.type)))
    return 'thinking: Input tag is not valid';
  if (value.type === 'disabled') return undefined;
  if (body.temperature !== undefined && body.temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled';
  if (value.type === 'adaptive') return undefined;
  const budget = value.budget_tokens;
  if (typeof budget !== 'number') return 'thinking.enabled.budget_tokens: Field required';
  if (budget < 1024) return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
  if (typeof body.max_tokens === 'number' && budget >= body.max_tokens)
    return '`max_tokens` must be greater than `thinking.budget_tokens`';
  return undefined;
}

function breakpoints(body: Dict): string | undefined {
  const marked: Dict[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const part of value) walk(part);
    else if (isDict(value)) {
      if (value.cache_control !== undefined) marked.push(value);
      for (const part of Object.values(value)) walk(part);
    }
  };
  walk([body.tools, body.system, body.messages]);
  if (marked.length > MAX_BREAKPOINTS)
    return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`;
  for (const block of marked) {
    if (block.type === 'thinking' || block.type === 'redacted_thinking')
      return 'cache_control cannot be set for thinking blocks';
    if (block.type === 'text' && block.text === '') return 'cache_control cannot be set for empty text blocks';
    if (!isDict(block.cache_control) || block.cache_control.type !== 'ephemeral')
      return 'cache_control: Input tag is not valid';
  }
  return undefined;
}
