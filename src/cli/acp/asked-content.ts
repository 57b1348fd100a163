import type { ToolCallContent } from '@agentclientprotocol/sdk/unstable';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { fenced } from '../../lib/text/fence.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { diffContent, proposedContent } from './tool-content.ts';

/** All of what an editor's user decides on: the title holds one line, and not every editor shows the input. */
export function askedContent(request: PermissionRequest): ToolCallContent[] {
  const { facts, toolName, preview } = request;
  const change = diffContent(preview) ?? proposedContent(toolName, facts.input);
  const words = [...beware(request), ...(change.length === 0 ? call(request) : [])];
  return [...words.map((text): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })), ...change];
}

/** What is not as it seems, and what is asked for beside the call itself. */
function beware({ targets, concealed, danger, facts, reasons }: PermissionRequest): readonly string[] {
  const isMore = danger === 'breaker' || facts.opens !== undefined || facts.outside !== undefined;
  return [
    ...(concealed === 'none' ? [] : ['It holds characters that do not show.']),
    ...targets.map(({ path, real }) => `${path} really is ${real}`),
    ...(isMore ? reasons : []),
  ].map((text) => sanitize(text, 'line'));
}

function call({ facts, title }: PermissionRequest): readonly string[] {
  const { command, input } = facts;
  if (command !== undefined) return command === title ? [] : [fenced(sanitize(command, 'prompt'))];
  return Object.keys(input).length === 0 ? [] : [fenced(sanitize(JSON.stringify(input, undefined, 2), 'prompt'))];
}
