import type { ModelRequest, RequestMessage, SystemPart, ToolSpec } from '../../contracts/model.ts';

/** A part of a request. Providers cache the parts in this order. */
export type RequestPartLocation = {
  readonly part: 'model' | 'tools' | 'system' | 'message';
  readonly name: string;
};

/** The first difference between two requests. */
export type RequestDifference = {
  readonly location: RequestPartLocation;
  readonly cause: string;
  /** Texts of the earlier request from this part on. */
  readonly lost: readonly string[];
};

/** Finds the first part where a request does not repeat the previous one; added messages at the end do not count. */
export function findRequestDifference(before: ModelRequest, after: ModelRequest): RequestDifference | undefined {
  const messages = () => before.messages.map(serialize);
  const system = () => before.system.map((part) => part.text);
  const everything = () => [...before.tools.map(serialize), ...system(), ...messages()];
  if (before.model !== after.model) {
    const cause = `the model changed from ${before.model} to ${after.model}`;
    return { location: { part: 'model', name: 'model' }, cause, lost: everything() };
  }
  const tools = describeToolChange(before.tools, after.tools);
  if (tools !== undefined) return { location: { part: 'tools', name: 'tools' }, cause: tools, lost: everything() };
  const part = findSystemChange(before.system, after.system);
  if (part !== undefined) {
    const location: RequestPartLocation = { part: 'system', name: `system prompt, ${part.name}` };
    return { location, cause: part.cause, lost: [...system().slice(part.index), ...messages()] };
  }
  const thinking = describeThinkingChange(before, after);
  if (thinking !== undefined) {
    return { location: { part: 'message', name: 'thinking' }, cause: thinking, lost: messages() };
  }
  return findMessageChange(before.messages, after.messages);
}

/** A change of effort or thinking budget invalidates the cached messages. */
function describeThinkingChange(before: ModelRequest, after: ModelRequest): string | undefined {
  if (before.effort !== after.effort) return `the effort changed from ${before.effort} to ${after.effort}`;
  return before.thinkingBudgetTokens === after.thinkingBudgetTokens ? undefined : 'the thinking budget changed';
}

function describeToolChange(before: readonly ToolSpec[], after: readonly ToolSpec[]): string | undefined {
  if (before.length === after.length && before.every((tool, index) => isSame(tool, after[index]))) return undefined;
  const names = (tools: readonly ToolSpec[]) => tools.map((tool) => tool.name);
  const added = names(after).filter((name) => !names(before).includes(name));
  const removed = names(before).filter((name) => !names(after).includes(name));
  const changed = before.filter((tool) => after.some((other) => other.name === tool.name && !isSame(tool, other)));
  const changes = [
    ...(added.length === 0 ? [] : [`added ${added.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`removed ${removed.join(', ')}`]),
    ...(changed.length === 0 ? [] : [`changed ${names(changed).join(', ')}`]),
  ];
  return changes.length === 0 ? 'the order changed' : changes.join('; ');
}

function findSystemChange(
  before: readonly SystemPart[],
  after: readonly SystemPart[],
): { readonly name: string; readonly cause: string; readonly index: number } | undefined {
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length; index += 1) {
    const previous = before[index];
    const next = after[index];
    if (previous?.text === next?.text) continue;
    const name = next?.name ?? previous?.name ?? '';
    const cause = previous === undefined ? 'it was added' : next === undefined ? 'it was removed' : 'its text changed';
    return { name, cause, index };
  }
  return undefined;
}

function findMessageChange(
  before: readonly RequestMessage[],
  after: readonly RequestMessage[],
): RequestDifference | undefined {
  for (const [index, previous] of before.entries()) {
    const next = after[index];
    if (next === previous) continue;
    const isLast = index === before.length - 1;
    const cause = next === undefined ? 'it is no longer sent' : describeMessageChange(previous, next, isLast);
    if (cause === undefined) continue;
    return {
      location: { part: 'message', name: `message ${index + 1}` },
      cause,
      lost: before.slice(index).map(serialize),
    };
  }
  return undefined;
}

/** Compares two messages; only the last one may have grown. */
function describeMessageChange(previous: RequestMessage, next: RequestMessage, isLast: boolean): string | undefined {
  if (previous.role !== next.role) return `its role changed from ${previous.role} to ${next.role}`;
  for (const [index, block] of previous.blocks.entries()) {
    const now = next.blocks[index];
    if (now === undefined) return `its ${getBlockName(block.type)} is no longer sent`;
    if (!isSame(block, now)) return `its ${getBlockName(block.type)} changed`;
  }
  return !isLast && next.blocks.length > previous.blocks.length ? 'something was added to it' : undefined;
}

function getBlockName(type: string): string {
  return type.replaceAll('_', ' ');
}

/** Compares by identity first: most blocks are the same objects, and only the others are serialised. */
function isSame(one: object | undefined, other: object | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && serialize(one) === serialize(other));
}

function serialize(value: object): string {
  return JSON.stringify(value);
}
