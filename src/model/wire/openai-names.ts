import type { ToolSpec } from '../../contracts/model.ts';
import { shortHash } from '../../lib/text/short-hash.ts';

/** What chat completions take as the name of a tool. */
const LONGEST_NAME = 64;
/** What a server takes as the id of a call; most take anything. */
export type IdRule = (id: string) => string;

/** A tool's name as it is sent: the same one always gives the same, and two never become one. */
export function chatName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 9)}_${shortHash(name, 8)}`;
}

/** The tools that are offered, by the name under which each is sent. */
export function toolNames(tools: readonly ToolSpec[]): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name }) => [chatName(name), name]));
}

/** A session may come from another provider, whose ids are longer than this server takes them. */
export function idRuleOf(address: string): IdRule {
  if (address === 'https://api.openai.com') return (id) => (id.length <= 40 ? id : `call_${shortHash(id, 24)}`);
  if (address === 'https://api.mistral.ai') return (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : shortHash(id, 9));
  return (id) => id;
}
