import type { ToolSpec } from '../../contracts/model.ts';
import { computeShortHash } from '../../lib/text/short-hash.ts';

/** Length limit of tool names in OpenAI's APIs. */
const MAX_NAME_LENGTH = 64;
/** Converts a tool call id to a form that a server accepts. */
export type ToolCallIdFormatter = (id: string) => string;

/** Shortens a tool name to the length limit; a hash keeps shortened names stable and distinct. */
export function shortenToolName(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH - 9)}_${computeShortHash(name, 8)}`;
}

/** Maps sent tool names to the original names. */
export function mapSentToolNames(tools: readonly ToolSpec[]): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name }) => [shortenToolName(name), name]));
}

/** Returns the id conversion of a server: a session may contain ids of another provider that the server would reject. */
export function getToolCallIdFormatter(address: string): ToolCallIdFormatter {
  if (address === 'https://api.openai.com') return (id) => (id.length <= 40 ? id : `call_${computeShortHash(id, 24)}`);
  if (address === 'https://api.mistral.ai') return (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : computeShortHash(id, 9));
  return (id) => id;
}
