import type { IncomingHttpHeaders } from 'node:http';
import { type Dict, isDict, isText, isWellFormed } from './values.ts';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const PARTS = ['text', 'image_url', 'input_audio', 'file'];

/** Returns OpenAI's error for the first rule of chat completions that a request breaks. */
export function violationOfChat(body: unknown, headers: IncomingHttpHeaders): string | undefined {
  if (!String(headers['content-type']).startsWith('application/json')) return 'Unsupported content type.';
  if (!isDict(body) || Object.keys(body).length === 0 || !isWellFormed(body))
    return 'We could not parse the JSON body of your request.';
  if (!isText(body.model) || body.model === '') return 'you must provide a model parameter';
  const limit = body.max_completion_tokens ?? body.max_tokens;
  if (limit !== undefined && (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1))
    return "Invalid 'max_tokens': integer below minimum value.";
  if (!Array.isArray(body.messages)) return "Missing required parameter: 'messages'.";
  if (body.messages.length === 0) return "Invalid 'messages': empty array. Expected an array with minimum length 1.";
  return tools(body.tools) ?? messages(body.messages);
}

function tools(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return "Invalid type for 'tools': expected an array.";
  if (value.length === 0) return "Invalid 'tools': empty array.";
  for (const [at, tool] of value.entries()) {
    const about = isDict(tool) && tool.type === 'function' ? tool.function : undefined;
    if (!isDict(about)) return `Missing required parameter: 'tools[${at}].function'.`;
    if (!TOOL_NAME.test(String(about.name)))
      return `Invalid 'tools[${at}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`;
    if (about.parameters !== undefined && (!isDict(about.parameters) || about.parameters.type !== 'object'))
      return `Invalid schema for function '${String(about.name)}': schema must be a JSON Schema of 'type: "object"'.`;
  }
  return undefined;
}

function messages(list: readonly unknown[]): string | undefined {
  let open: readonly string[] = [];
  for (const [at, message] of list.entries()) {
    if (!isDict(message) || !ROLES.includes(String(message.role)))
      return `Invalid value for 'messages[${at}].role'. Supported values are: ${ROLES.join(', ')}.`;
    if (message.role === 'tool') {
      const id = String(message.tool_call_id);
      if (!open.includes(id))
        return `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls' (messages[${at}]).`;
      open = open.filter((one) => one !== id);
    } else if (open.length > 0) return unanswered(open);
    const found = content(message, at);
    if (found !== undefined) return found;
    if (message.role !== 'assistant' || message.tool_calls === undefined) continue;
    const calls = callIds(message.tool_calls);
    if (calls === undefined)
      return `Invalid 'messages[${at}].tool_calls': each needs an id, a name and arguments as a string.`;
    open = calls;
  }
  return open.length > 0 ? unanswered(open) : undefined;
}

const unanswered = (ids: readonly string[]): string =>
  `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`;

function content(message: Dict, at: number): string | undefined {
  if (isText(message.content)) return undefined;
  if (message.content === null || message.content === undefined) {
    return message.role === 'assistant' && message.tool_calls !== undefined
      ? undefined
      : `Invalid value for 'content': expected a string, got null. (messages[${at}])`;
  }
  const isList =
    Array.isArray(message.content) &&
    message.content.every((part) => isDict(part) && PARTS.includes(String(part.type)));
  return isList ? undefined : `Invalid type for 'messages[${at}].content'.`;
}

function callIds(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const ids: string[] = [];
  for (const call of value) {
    if (!isDict(call) || !isText(call.id) || !isDict(call.function)) return undefined;
    if (!isText(call.function.name) || !isText(call.function.arguments)) return undefined;
    ids.push(call.id);
  }
  return ids;
}
