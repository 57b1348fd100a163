import type { IncomingHttpHeaders } from 'node:http';
import { type Dict, isDict, isText, isWellFormed } from './values.ts';

const FIELDS = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'model', 'stream'];
const PARTS = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];
const NOT_CHECKED = 'skip_thought_signature_validator';

/** The signature that has to accompany the first call of a reply. */
export const signatureFor = (callId: string): string => btoa(`signed ${callId}`);

/** Returns Google's error for the first rule of Gemini that a request breaks. */
export function violationOfGemini(body: unknown, headers: IncomingHttpHeaders): string | undefined {
  if (!String(headers['content-type']).startsWith('application/json')) return 'Invalid content type.';
  if (!isDict(body) || !isWellFormed(body)) return 'Invalid JSON payload received.';
  const extra = Object.keys(body).find((key) => !FIELDS.includes(key));
  if (extra !== undefined) return `Invalid JSON payload received. Unknown name "${extra}": Cannot find field.`;
  const { contents, model } = body;
  if (!Array.isArray(contents) || contents.length === 0)
    return 'GenerateContentRequest.contents: contents is not specified';
  return (
    thinking(body, String(model)) ??
    declarations(body.tools) ??
    turns(contents.filter(isDict)) ??
    signatures(contents.filter(isDict), String(model))
  );
}

function thinking({ generationConfig }: Dict, model: string): string | undefined {
  const config = isDict(generationConfig) ? generationConfig.thinkingConfig : undefined;
  if (!isDict(config)) return undefined;
  if (/gemini-[12]\.[0-4]/.test(model)) return 'Thinking is not enabled for this model.';
  if (config.thinkingLevel !== undefined && !/gemini-[3-9]/.test(model))
    return 'Thinking level is not supported for this model.';
  return config.thinkingLevel === 'minimal' && model.includes('pro')
    ? 'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.'
    : undefined;
}

function declarations(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (Array.isArray(tools) && tools.length === 1 && isDict(tools[0]) && isDict(tools[0].google_search))
    return undefined;
  const listed = Array.isArray(tools) && isDict(tools[0]) ? tools[0].functionDeclarations : undefined;
  if (!Array.isArray(listed) || listed.length === 0) return 'tools: functionDeclarations is empty';
  const bad = listed.find((one) => !isDict(one) || !/^[a-zA-Z_][\w.:-]{0,63}$/.test(String(one.name)));
  return bad === undefined ? undefined : 'Invalid function name. Must start with a letter or an underscore.';
}

/** Calls are answered at once, one for one, and nothing stands among the answers. */
function turns(contents: readonly Dict[]): string | undefined {
  if (contents[0]?.role !== 'user') return 'Please ensure that the first turn is from the user.';
  for (const [at, { role, parts }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.';
    if (!Array.isArray(parts) || parts.length === 0)
      return `GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`;
    for (const part of parts) {
      if (!isDict(part) || !PARTS.some((name) => part[name] !== undefined))
        return `GenerateContentRequest.contents[${at}].parts: must have one initialized field`;
      if (isText(part.text) && part.text === '')
        return 'Unable to submit request because it has an empty text parameter.';
    }
    const calls = idsIn(contents[at - 1], 'functionCall');
    const answers = idsIn(contents[at], 'functionResponse');
    if (calls.length !== answers.length || (answers.length > 0 && answers.length !== parts.length))
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    if (answers.some((id) => !calls.includes(id))) return `No function call with the id ${answers.join(', ')}.`;
  }
  return idsIn(contents.at(-1), 'functionCall').length > 0
    ? 'Please ensure that function call turn comes immediately before a function response turn.'
    : undefined;
}

function idsIn(content: Dict | undefined, field: string): readonly string[] {
  const parts = Array.isArray(content?.parts) ? content.parts.filter(isDict) : [];
  return parts.flatMap((part) => (isDict(part[field]) ? [String(part[field].id)] : []));
}

/** From the third generation on the first call of each reply bears its signature. */
function signatures(contents: readonly Dict[], model: string): string | undefined {
  for (const { role, parts } of contents) {
    if (role !== 'model' || !Array.isArray(parts)) continue;
    const calls = parts.filter(isDict).filter((part) => isDict(part.functionCall));
    for (const [nth, { functionCall, thoughtSignature }] of calls.entries()) {
      const id = isDict(functionCall) ? String(functionCall.id) : '';
      if (thoughtSignature === undefined && nth === 0 && /gemini-[3-9]/.test(model))
        return 'Function call is missing a thought_signature in functionCall parts.';
      if (thoughtSignature !== undefined && thoughtSignature !== NOT_CHECKED && thoughtSignature !== signatureFor(id))
        return 'Corrupted thought signature.';
    }
  }
  return undefined;
}
