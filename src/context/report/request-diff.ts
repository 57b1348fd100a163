import type { ModelRequest, RequestMessage, SystemPart, ToolSpec } from '../../contracts/model.ts';

/** A place in a request, in the order in which the provider caches it. */
export type Place = {
  readonly part: 'model' | 'tools' | 'system' | 'message';
  readonly name: string;
};

export type Difference = {
  readonly place: Place;
  readonly cause: string;
  /** What was sent before from this place on. */
  readonly lost: readonly string[];
};

/** The first place where a request does not repeat the one before it; growing at the end is no difference. */
export function firstDifference(before: ModelRequest, after: ModelRequest): Difference | undefined {
  const messages = () => before.messages.map(bytes);
  const system = () => before.system.map((part) => part.text);
  const everything = () => [...before.tools.map(bytes), ...system(), ...messages()];
  if (before.model !== after.model) {
    const cause = `the model changed from ${before.model} to ${after.model}`;
    return { place: { part: 'model', name: 'model' }, cause, lost: everything() };
  }
  const tools = toolDifference(before.tools, after.tools);
  if (tools !== undefined) return { place: { part: 'tools', name: 'tools' }, cause: tools, lost: everything() };
  const part = systemDifference(before.system, after.system);
  if (part !== undefined) {
    const place: Place = { part: 'system', name: `system prompt, ${part.name}` };
    return { place, cause: part.cause, lost: [...system().slice(part.index), ...messages()] };
  }
  const thinking = thinkingDifference(before, after);
  if (thinking !== undefined) {
    return { place: { part: 'message', name: 'thinking' }, cause: thinking, lost: messages() };
  }
  return messageDifference(before.messages, after.messages);
}

/** Providers keep no messages cached across a change of how much is thought. */
function thinkingDifference(before: ModelRequest, after: ModelRequest): string | undefined {
  if (before.effort !== after.effort) return `the effort changed from ${before.effort} to ${after.effort}`;
  return before.thinkingBudgetTokens === after.thinkingBudgetTokens ? undefined : 'the room for thinking changed';
}

function toolDifference(before: readonly ToolSpec[], after: readonly ToolSpec[]): string | undefined {
  if (before.length === after.length && before.every((tool, index) => same(tool, after[index]))) return undefined;
  const names = (tools: readonly ToolSpec[]) => tools.map((tool) => tool.name);
  const added = names(after).filter((name) => !names(before).includes(name));
  const removed = names(before).filter((name) => !names(after).includes(name));
  const changed = before.filter((tool) => after.some((other) => other.name === tool.name && !same(tool, other)));
  const words = [
    ...(added.length === 0 ? [] : [`added ${added.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`removed ${removed.join(', ')}`]),
    ...(changed.length === 0 ? [] : [`changed ${names(changed).join(', ')}`]),
  ];
  return words.length === 0 ? 'the order changed' : words.join('; ');
}

function systemDifference(
  before: readonly SystemPart[],
  after: readonly SystemPart[],
): { readonly name: string; readonly cause: string; readonly index: number } | undefined {
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length; index += 1) {
    const old = before[index];
    const fresh = after[index];
    if (old?.text === fresh?.text) continue;
    const name = fresh?.name ?? old?.name ?? '';
    const cause = old === undefined ? 'it was added' : fresh === undefined ? 'it was removed' : 'its text changed';
    return { name, cause, index };
  }
  return undefined;
}

function messageDifference(
  before: readonly RequestMessage[],
  after: readonly RequestMessage[],
): Difference | undefined {
  for (const [index, old] of before.entries()) {
    const fresh = after[index];
    if (fresh === old) continue;
    const isLast = index === before.length - 1;
    const cause = fresh === undefined ? 'it is no longer sent' : blockDifference(old, fresh, isLast);
    if (cause === undefined) continue;
    return { place: { part: 'message', name: `message ${index + 1}` }, cause, lost: before.slice(index).map(bytes) };
  }
  return undefined;
}

/** The last message may have grown; every other one has to be as it was. */
function blockDifference(old: RequestMessage, fresh: RequestMessage, isLast: boolean): string | undefined {
  if (old.role !== fresh.role) return `the ${old.role}'s words became the ${fresh.role}'s`;
  for (const [index, block] of old.blocks.entries()) {
    const now = fresh.blocks[index];
    if (now === undefined) return `its ${kindOf(block.type)} is no longer sent`;
    if (!same(block, now)) return `its ${kindOf(block.type)} changed`;
  }
  return !isLast && fresh.blocks.length > old.blocks.length ? 'something was added to it' : undefined;
}

function kindOf(type: string): string {
  return type.replaceAll('_', ' ');
}

/** Most blocks are the very same objects; only those that are not are compared by their bytes. */
function same(one: object | undefined, other: object | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && bytes(one) === bytes(other));
}

function bytes(thing: object): string {
  return JSON.stringify(thing);
}
