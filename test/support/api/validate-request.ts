import type { IncomingHttpHeaders } from 'node:http';
import { isNestedDeeperThan } from '../../../src/lib/json.ts';
import { type IssuedContent, violationOfMessages } from './validate-messages.ts';
import { violationOfThinking, violationOfToolChoice, violationOfTools } from './validate-tools.ts';
import { type Dict, isDict, isText, isWellFormed } from './values.ts';

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
  'output_config',
  'container',
]);
/** Fields that exist only for who asks for them in the `anthropic-beta` header. */
const BETA_FIELDS: Readonly<Record<string, string>> = {
  context_management: 'context-management-',
  mcp_servers: 'mcp-client-',
};
const OUTPUT_LIMITS: readonly (readonly [RegExp, number])[] = [
  [/opus-4-[01]\b/, 32_000],
  [/(sonnet|haiku|opus)-4-/, 64_000],
  [/3-5-(sonnet|haiku)|3-haiku/, 8192],
];
const USUAL_OUTPUT_LIMIT = 128_000;
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const MAX_BREAKPOINTS = 4;
/** The nesting depth at which JSON parsers give up. */
const DEEPEST = 200;

/** Returns the API's error for the first structural rule a request breaks; `undefined` if it breaks none. */
export function violationOf(body: unknown, headers: IncomingHttpHeaders, issued: IssuedContent): string | undefined {
  if (!headers['anthropic-version']) return 'anthropic-version: header is required';
  if (!String(headers['content-type']).startsWith('application/json')) return 'content-type: must be application/json';
  if (!isDict(body) || Object.keys(body).length === 0) return 'The request body is not valid JSON';
  if (isNestedDeeperThan(body, DEEPEST)) return 'The request body is not valid JSON: recursion limit exceeded';
  if (!isWellFormed(body)) return 'The request body is not valid JSON: no low surrogate in string';
  return (
    unknownField(body, String(headers['anthropic-beta'] ?? '')) ??
    model(body) ??
    sampling(body) ??
    metadata(body.metadata) ??
    outputConfig(body.output_config) ??
    system(body.system) ??
    violationOfTools(body.tools) ??
    violationOfToolChoice(body) ??
    violationOfThinking(body) ??
    breakpoints(body) ??
    violationOfMessages(body, issued)
  );
}

/** Returns the error for missing or wrong credentials. */
export function refusedCredentials(headers: IncomingHttpHeaders, expected: string | undefined): string | undefined {
  const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  if (given === undefined || given === '') return 'x-api-key header is required';
  return expected === undefined || given === expected ? undefined : 'invalid x-api-key';
}

function unknownField(body: Dict, betas: string): string | undefined {
  const extra = Object.keys(body).find((key) => {
    const beta = BETA_FIELDS[key];
    return beta === undefined ? !FIELDS.has(key) : !betas.includes(beta);
  });
  return extra === undefined ? undefined : `${extra}: Extra inputs are not permitted`;
}

function model(body: Dict): string | undefined {
  if (!isText(body.model)) return 'model: Field required';
  if (body.model.trim() === '') return 'model: String should have at least 1 character';
  const max = body.max_tokens;
  if (max === undefined) return 'max_tokens: Field required';
  if (typeof max !== 'number' || !Number.isInteger(max)) return 'max_tokens: Input should be a valid integer';
  if (max <= 0) return 'max_tokens: Input should be greater than or equal to 1';
  const name = body.model;
  const limit = OUTPUT_LIMITS.find(([pattern]) => pattern.test(name))?.[1] ?? USUAL_OUTPUT_LIMIT;
  return max > limit
    ? `max_tokens: ${max} > ${limit}, which is the maximum allowed number of output tokens for ${name}`
    : undefined;
}

function sampling(body: Dict): string | undefined {
  const { stream, temperature, top_p: topP, top_k: topK, stop_sequences: stops } = body;
  if (stream !== undefined && typeof stream !== 'boolean') return 'stream: Input should be a valid boolean';
  if (temperature !== undefined && !isFraction(temperature)) return 'temperature: range: 0..1';
  if (topP !== undefined && !isFraction(topP)) return 'top_p: range: 0..1';
  if (topK !== undefined && !Number.isInteger(topK)) return 'top_k: Input should be a valid integer';
  if (stops === undefined) return undefined;
  if (!Array.isArray(stops)) return 'stop_sequences: Input should be a valid list';
  return stops.some((stop) => !isText(stop) || stop.trim() === '')
    ? 'stop_sequences: each stop sequence must contain non-whitespace'
    : undefined;
}

const isFraction = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;

function metadata(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!isDict(value)) return 'metadata: Input should be a valid dictionary';
  const extra = Object.keys(value).find((key) => key !== 'user_id');
  if (extra !== undefined) return `metadata.${extra}: Extra inputs are not permitted`;
  return value.user_id === undefined || isText(value.user_id)
    ? undefined
    : 'metadata.user_id: Input should be a valid string';
}

function outputConfig(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!isDict(value)) return 'output_config: Input should be a valid dictionary';
  return value.effort === undefined || EFFORTS.includes(String(value.effort))
    ? undefined
    : `output_config.effort: Input should be ${EFFORTS.map((effort) => `'${effort}'`).join(', ')}`;
}

function system(value: unknown): string | undefined {
  if (value === undefined || isText(value)) return undefined;
  if (!Array.isArray(value)) return 'system: Input should be a valid string or list';
  for (const [at, block] of value.entries()) {
    if (!isDict(block) || block.type !== 'text' || !isText(block.text))
      return `system.${at}: Input should be a text block`;
    if (block.text === '') return 'system: text content blocks must be non-empty';
    if (block.text.trim() === '') return 'system: text content blocks must contain non-whitespace text';
  }
  return undefined;
}

function breakpoints(body: Dict): string | undefined {
  const marked: Dict[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const part of value) walk(part);
    else if (isDict(value)) {
      if (value.cache_control !== undefined) marked.push(value);
      walk(value.content);
    }
  };
  // The order in which the API reads a prompt.
  walk([body.tools, body.system, body.messages]);
  if (marked.length > MAX_BREAKPOINTS)
    return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`;
  let isShort = false;
  for (const block of marked) {
    if (block.type === 'thinking' || block.type === 'redacted_thinking')
      return 'cache_control cannot be set for thinking blocks';
    if (block.type === 'text' && block.text === '') return 'cache_control cannot be set for empty text blocks';
    const control = block.cache_control;
    if (!isDict(control) || control.type !== 'ephemeral') return 'cache_control: Input tag is not valid';
    if (control.ttl !== undefined && control.ttl !== '5m' && control.ttl !== '1h')
      return "cache_control.ephemeral.ttl: Input should be '5m' or '1h'";
    if (control.ttl === '1h' && isShort)
      return "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block";
    isShort ||= control.ttl !== '1h';
  }
  return undefined;
}
