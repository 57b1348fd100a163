import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';

/** What a single text means to each tool. */
const KEYS: Readonly<Record<string, string>> = {
  Bash: 'command',
  Read: 'file_path',
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
  Glob: 'pattern',
  Grep: 'path',
  LS: 'path',
  WebFetch: 'url',
  WebSearch: 'query',
  Task: 'subagent_type',
  Agent: 'subagent_type',
  Skill: 'name',
};

/** The input of a call from what somebody typed: an object as it is, a text in the place where the tool wants it. */
export function caseInput(tool: string, given: JsonValue): JsonObject | undefined {
  if (isJsonObject(given)) return given;
  if (typeof given !== 'string') return undefined;
  const key = Object.hasOwn(KEYS, tool) ? KEYS[tool] : undefined;
  if (key !== undefined && !(tool !== 'Bash' && given.trimStart().startsWith('{'))) return { [key]: given };
  if (given.trim() === '') return {};
  try {
    const parsed: JsonValue = JSON.parse(given);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
