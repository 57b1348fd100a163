import { basename } from 'node:path';
import type { Hook, HookEvent } from '../contracts/hook.ts';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import { findBuiltInToolTraits } from '../tools/tool-traits.ts';
import { parseHookMatcher } from './parse-matcher.ts';
import { isBlockingHook } from './run-hook.ts';

/** An event that selects a hook, as the hook gets it. */
type HookInput = {
  readonly hook: Hook;
  readonly input: JsonObject;
  /** True for a part of the call that happened. */
  readonly isPart: boolean;
};

/** Returns true when a call matches a permission rule, the `if` of a hook. */
export type MatchesRule = (rule: string, tool: string, input: JsonObject) => boolean;

/** Finds the events that a hook gets: the event itself, or for a hook about another tool the parts of the call. */
export async function findHookInputs(
  hook: Hook,
  fields: JsonObject,
  matchesRule: MatchesRule,
): Promise<readonly HookInput[]> {
  if (await isSelected(hook, fields, matchesRule)) return [{ hook, input: fields, isPart: false }];
  const inputs: HookInput[] = [];
  for (const input of listParts(fields))
    if (await isSelected(hook, input, matchesRule)) inputs.push({ hook, input, isPart: true });
  return inputs;
}

/**
 * Lists the events of the calls that a call consists of, such as the edits of a rename: hooks that guard or format
 * files match `Edit|Write` and read `file_path`.
 */
function listParts({ tool_name: name, tool_input: call, ...fields }: JsonObject): readonly JsonObject[] {
  if (typeof name !== 'string' || !isJsonObject(call)) return [];
  const parts = findBuiltInToolTraits(name)?.listParts?.(call) ?? [];
  return parts.map(({ tool, input }) => ({ ...fields, tool_name: tool, tool_input: input }));
}

/** Returns true when matcher (case-sensitive) and `if` select the event; a guard with an invalid matcher always runs. */
async function isSelected(hook: Hook, fields: JsonObject, matchesRule: MatchesRule): Promise<boolean> {
  const subject = getMatchedText(hook.event, fields);
  const matches = await parseHookMatcher(hook.matcher ?? '');
  if ('problem' in matches ? !isBlockingHook(hook) : subject !== undefined && !matches(subject)) return false;
  if (hook.if === undefined) return true;
  const input = fields.tool_input;
  return isJsonObject(input) && matchesRule(hook.if, String(fields.tool_name ?? ''), input);
}

/** Returns the text of an event that matchers are compared with; `undefined` for events that ignore matchers. */
function getMatchedText(event: HookEvent, fields: JsonObject): string | undefined {
  const field = MATCHED_FIELDS[event];
  if (field === undefined) return undefined;
  const text = String(fields[field] ?? '');
  return event === 'FileChanged' ? basename(text) : text;
}

/** The field of each event that matchers are compared with; `undefined` for events that ignore matchers. */
const MATCHED_FIELDS: Readonly<Record<HookEvent, string | undefined>> = {
  PreToolUse: 'tool_name',
  PostToolUse: 'tool_name',
  PostToolUseFailure: 'tool_name',
  PermissionRequest: 'tool_name',
  PermissionDenied: 'tool_name',
  Setup: 'trigger',
  SessionStart: 'source',
  SessionEnd: 'reason',
  PreCompact: 'trigger',
  PostCompact: 'trigger',
  SubagentStart: 'agent_type',
  SubagentStop: 'agent_type',
  Notification: 'notification_type',
  StopFailure: 'error',
  UserPromptExpansion: 'command_name',
  Elicitation: 'mcp_server_name',
  ElicitationResult: 'mcp_server_name',
  ConfigChange: 'source',
  InstructionsLoaded: 'load_reason',
  PreModelSwitch: 'to_model',
  PostModelSwitch: 'to_model',
  FileChanged: 'file_path',
  UserPromptSubmit: undefined,
  Stop: undefined,
  PostToolBatch: undefined,
  TaskCreated: undefined,
  TaskCompleted: undefined,
  WorktreeCreate: undefined,
  WorktreeRemove: undefined,
  CwdChanged: undefined,
  DirectoryAdded: undefined,
  MessageDisplay: undefined,
  TeammateIdle: undefined,
};
