import type { IncomingHttpHeaders } from 'node:http';
import type { IssuedContent } from './validate-messages.ts';
import { type Dict, isDict, isText, isWellFormed } from './values.ts';

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const FIELDS = [
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'max_tool_calls',
  'parallel_tool_calls',
  'reasoning',
  'include',
  'store',
  'stream',
  'prompt_cache_key',
  'text',
];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** Returns OpenAI's error for the first rule of the Responses API that a request breaks. */
export function violationOfResponses(
  body: unknown,
  headers: IncomingHttpHeaders,
  issued: IssuedContent,
): string | undefined {
  if (!String(headers['content-type']).startsWith('application/json')) return 'Unsupported content type.';
  if (!isDict(body) || !isWellFormed(body)) return 'We could not parse the JSON body of your request.';
  const extra = Object.keys(body).find((key) => !FIELDS.includes(key));
  if (extra !== undefined) return `Unknown parameter: '${extra}'.`;
  if (!isText(body.model) || body.model === '') return "Missing required parameter: 'model'.";
  if (typeof body.max_output_tokens === 'number' && body.max_output_tokens < 16)
    return "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.";
  return reasoning(body) ?? tools(body.tools) ?? input(body, issued);
}

/** A model that does not think takes none of its fields. */
function reasoning({ model, reasoning: requested, include }: Dict): string | undefined {
  const isPlain = /^gpt-4/.test(String(model));
  if (isPlain && requested !== undefined)
    return "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
  if (isPlain && Array.isArray(include)) return 'Encrypted content is not supported with this model.';
  if (!isDict(requested) || requested.effort === undefined) return undefined;
  const known = /^o\d/.test(String(model)) ? ['low', 'medium', 'high'] : EFFORTS;
  return known.includes(String(requested.effort))
    ? undefined
    : `Unsupported value: 'reasoning.effort' does not support '${String(requested.effort)}' with this model. Supported values are: ${known.map((word) => `'${word}'`).join(', ')}.`;
}

function tools(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0) return "Invalid type for 'tools': expected an array.";
  for (const [at, tool] of value.entries()) {
    if (isDict(tool) && tool.type === 'web_search') {
      const extra = Object.keys(tool).find(
        (key) => !['type', 'filters', 'search_context_size', 'user_location'].includes(key),
      );
      if (extra !== undefined) return `Unknown parameter: 'tools[${at}].${extra}'.`;
      continue;
    }
    if (!isDict(tool) || tool.type !== 'function') return `Missing required parameter: 'tools[${at}].type'.`;
    if (!TOOL_NAME.test(String(tool.name)))
      return `Invalid 'tools[${at}].name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`;
    if (!isDict(tool.parameters) || tool.parameters.type !== 'object')
      return `Invalid schema for function '${String(tool.name)}': schema must be a JSON Schema of 'type: "object"'.`;
  }
  return undefined;
}

function input({ input: items }: Dict, issued: IssuedContent): string | undefined {
  if (!Array.isArray(items) || items.length === 0) return "Missing required parameter: 'input'.";
  let open: readonly string[] = [];
  for (const [at, item] of items.entries()) {
    if (!isDict(item)) return `Invalid type for 'input[${at}]': expected an object.`;
    const found = itemProblem(item, at, items[at + 1], issued);
    if (found !== undefined) return found;
    if (item.type === 'function_call') open = [...open, String(item.call_id)];
    if (item.type === 'function_call_output') {
      if (!open.includes(String(item.call_id)))
        return `No tool call found for function call output with call_id ${String(item.call_id)}.`;
      open = open.filter((id) => id !== item.call_id);
    } else if (item.role === 'user' && open.length > 0) return unanswered(open);
  }
  return open.length > 0 ? unanswered(open) : undefined;
}

const unanswered = ([id]: readonly string[]): string => `No tool output found for function call ${id}.`;

function itemProblem(item: Dict, at: number, next: unknown, issued: IssuedContent): string | undefined {
  switch (item.type ?? 'message') {
    case 'message':
      return messageProblem(item, at);
    case 'function_call':
      return isText(item.call_id) && item.call_id.length <= 64 && isText(item.arguments)
        ? undefined
        : `Invalid 'input[${at}].call_id': string too long. Expected a string with maximum length 64.`;
    case 'function_call_output':
      return isText(item.output) || Array.isArray(item.output) ? undefined : `Invalid type for 'input[${at}].output'.`;
    case 'reasoning': {
      if (!Array.isArray(item.summary)) return `Missing required parameter: 'input[${at}].summary'.`;
      if (!issued.thoughts.has(String(item.encrypted_content)))
        return `The encrypted content for item ${String(item.id)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
      return isDict(next) && (next.role === 'assistant' || next.type === 'function_call' || next.type === 'reasoning')
        ? undefined
        : `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`;
    }
    default:
      return `Invalid value: '${String(item.type)}'. (input[${at}].type)`;
  }
}

const PARTS = ['input_text', 'input_image', 'input_file'];

function messageProblem({ role, content }: Dict, at: number): string | undefined {
  if (!['user', 'assistant', 'system', 'developer'].includes(String(role)))
    return `Invalid value for 'input[${at}].role'.`;
  if (isText(content)) return content === '' ? `Invalid 'input[${at}].content': empty.` : undefined;
  const isList = Array.isArray(content) && content.every((part) => isDict(part) && PARTS.includes(String(part.type)));
  return isList && content.length > 0 ? undefined : `Invalid type for 'input[${at}].content'.`;
}
