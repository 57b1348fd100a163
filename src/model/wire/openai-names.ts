import { createHash } from 'node:crypto';
import type { ToolSpec } from '../../contracts/model.ts';

/** What chat completions take as the name of a tool. */
const LONGEST_NAME = 64;
/** What a server takes as the id of a call; most take anything. */
export type IdRule = (id: string) => string;

/** A tool's name as it is sent: the same one always gives the same, and two never become one. */
export function chatName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 9)}_${markOf(name, 8)}`;
}

/** The tool that is meant by a name as it was sent. */
export function toolNames(tools: readonly ToolSpec[]): (sent: string) => string {
  const names = new Map(tools.map(({ name }) => [chatName(name), name]));
  return (sent) => names.get(sent) ?? sent;
}

/** A session may come from another provider, whose ids are longer than this server takes them. */
export function idRuleOf(address: string): IdRule {
  if (address === 'https://api.openai.com') return (id) => (id.length <= 40 ? id : `call_${markOf(id, 24)}`);
  if (address === 'https://api.mistral.ai') return (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : markOf(id, 9));
  return (id) => id;
}

function markOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
