import { z } from 'zod';
import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/message.ts';
import type { Effort } from '../../contracts/model.ts';
import { ToolFailure, type ToolOutcome, type ToolProgress } from '../../contracts/tool.ts';
import { truncate } from '../../lib/text/format.ts';
import { narrowToString } from '../../model/stream/json-values.ts';
import { buildTool } from '../definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from '../input/call-forms.ts';

const PROMPT = `Gives a task to a sub-agent with a conversation of its own; only its last message comes back. For searches that read a lot, and for independent work side by side (several calls in one reply). It sees nothing of this conversation: tell it everything it needs, and what to give back.`;

/** The task of a sub-agent, and the call that gives it. */
export type SubAgentTask = {
  readonly callId: string;
  readonly type: string;
  readonly description: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly effort?: Effort | undefined;
  /** Isolation that the call requests, regardless of the sub-agent type. */
  readonly isolation?: 'worktree' | undefined;
  /** Name under which SendMessage reaches it. */
  readonly name?: string | undefined;
  /** Id or name of an earlier sub-agent that continues with this task. */
  readonly resume?: string | undefined;
  readonly report: (progress: ToolProgress) => void;
};

/** The final report of a sub-agent. */
export type SubAgentReport = {
  /** Absent if no sub-agent was started. */
  readonly id?: string;
  readonly text: string;
  readonly calls: number;
  readonly tokens: number;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly failed: boolean;
  /** Set if the sub-agent was moved to the background and still runs. */
  readonly isMoved?: true;
};

/** A sub-agent type; `background` ones always run in the background. */
export type SubAgentType = Pick<SubAgentDefinition, 'name' | 'description' | 'background'>;

/** Dependencies of the Task tool. */
export type TaskToolDeps = {
  readonly listTypes: () => readonly SubAgentType[];
  readonly runAgent: (order: SubAgentTask, signal: AbortSignal) => Promise<SubAgentReport>;
  /** Starts a sub-agent in the background and returns its id; a notice reports its end. */
  readonly runInBackground: (order: SubAgentTask, signal: AbortSignal) => Promise<string>;
};

const input = z.strictObject({
  description: z.string().min(1).describe('Three to five words'),
  prompt: z.string().min(1),
  subagent_type: z.string().optional(),
  model: z.string().optional(),
  run_in_background: z.boolean().optional(),
  name: z.string().optional(),
  resume: z.string().optional(),
  isolation: z.enum(['worktree']).optional().describe('On a branch of its own'),
});

/** The traits of the Task tool. */
export const taskTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Task',
  aliases: ['Agent'],
  facts: (input) => ({ kind: 'agent', specifier: narrowToString(input.subagent_type) ?? 'general-purpose' }),
  mainInput: 'subagent_type',
  result: 'once',
  subAgents: 'parents',
  forms: {
    example: 'Task{description:"Find callers", prompt:"…", subagent_type:"Explore"}',
    names: [
      ...['dispatch_agent', 'new_task', 'sub_agent', 'run_subagent', 'spawn_agent', 'delegate', 'delegate_task'],
      'launch_agent',
    ],
    synonyms: {
      description: ['title', 'short_description', 'task_name'],
      prompt: ['task', 'instructions', 'message', 'query', 'objective', 'task_description', 'input'],
      subagent_type: ['agent_type', 'agent', 'type', 'kind', 'mode', 'agent_name', 'subagent', 'subagent_name'],
      model: [],
      run_in_background: ['background', 'async', 'is_background'],
      name: [],
      resume: ['resume_id', 'continue', 'continue_from', 'agent_id', 'task_id'],
      isolation: [],
    },
    ignored: ['explanation', 'max_turns', 'thoroughness'],
  },
});

const MAX_DESCRIPTION_WORDS = 6;

/** Takes the first words of the prompt for a description that is not given. */
function completeDescription(raw: JsonObject): JsonObject {
  if (raw.description !== undefined || typeof raw.prompt !== 'string') return raw;
  return { ...raw, description: raw.prompt.trim().split(/\s+/, MAX_DESCRIPTION_WORDS).join(' ') };
}

/** Creates the Task tool, which runs a sub-agent with at most the permissions of this conversation. */
export function createTaskTool(deps: TaskToolDeps) {
  const typeLines = deps.listTypes().map(({ name, description }) => `- ${name}: ${description}`);
  return buildTool({
    ...taskTraits,
    prompt: `${PROMPT}\nKinds (subagent_type, default general-purpose):\n${typeLines.join('\n')}`,
    input,
    // SendMessage goes on with an earlier sub-agent; these are the forms of other assistants for it.
    listHiddenArguments: () => ['name', 'resume'],
    isReadOnly: () => true,
    prepareArguments: completeDescription,
    isConcurrencySafe: () => true,
    title: ({ description }) => description,
    async call({ subagent_type, run_in_background, ...request }, context) {
      const { resume, description, prompt } = request;
      // A resumed sub-agent keeps its type.
      const { name: type, background } =
        resume === undefined ? findType(subagent_type, deps.listTypes()) : { name: '', background: false };
      const order = { ...request, callId: context.callId, type, report: context.report };
      if (run_in_background ?? background === true) {
        const id = await deps.runInBackground(order, context.signal);
        return buildLaunchedOutcome(id, `Started in the background as ${id}. ${BACKGROUND_HINT}`, {
          description,
          prompt,
        });
      }
      const report = await deps.runAgent(order, context.signal);
      return report.isMoved === true
        ? buildLaunchedOutcome(report.id ?? '', report.text, { description, prompt })
        : buildOutcome(report, order);
    },
  });
}

const BACKGROUND_HINT = 'You are told when it has finished; SendMessage reaches it.';

/** Returns the result of a call whose sub-agent the user moved to the background. */
export const describeBackgroundedAgent = (id: string) =>
  `The user sent it to the background, where it goes on as ${id}. ${BACKGROUND_HINT} Go on with something else, or end your turn.`;

function buildLaunchedOutcome(
  id: string,
  content: string,
  task: Pick<SubAgentTask, 'description' | 'prompt'>,
): ToolOutcome {
  return {
    content,
    display: { kind: 'text', text: `in the background as ${id}` },
    structured: { status: 'async_launched', isAsync: true, agentId: id, ...task },
  };
}

/** Builds the outcome of an ended sub-agent, with its id for SendMessage. */
function buildOutcome(report: SubAgentReport, { type, prompt }: SubAgentTask): ToolOutcome {
  const { id, text, calls, tokens, usage, durationMs, failed } = report;
  const hint = id === undefined ? '' : `\n\n(${id}: SendMessage goes on with it)`;
  return {
    content: `${text === '' ? '(the sub-agent said nothing)' : text}${hint}`,
    ...(failed ? { isError: true } : {}),
    display: { kind: 'agent', agentType: type, summary: summarize(text), calls },
    ...(id === undefined
      ? {}
      : {
          structured: {
            status: 'completed',
            agentId: id,
            prompt,
            content: [{ type: 'text', text }],
            totalToolUseCount: calls,
            totalTokens: tokens,
            totalDurationMs: durationMs,
            usage: toWireUsage(usage),
          },
        }),
  };
}

/** Converts usage to the format that hosts read. */
function toWireUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    server_tool_use: null,
    service_tier: null,
    cache_creation: null,
  };
}

/** Finds a type by name, ignoring case and treating spaces and underscores as hyphens. */
function findType(requestedName = 'general-purpose', types: readonly SubAgentType[]): SubAgentType {
  const normalizeName = (name: string) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_]+/g, '-');
  const found =
    types.find(({ name }) => name === requestedName) ??
    types.find(({ name }) => normalizeName(name) === normalizeName(requestedName));
  if (found !== undefined) return found;
  const names = types.map(({ name }) => name).join(', ');
  throw new ToolFailure(`There is no kind of sub-agent "${requestedName}". There are: ${names}.`);
}

/** Returns the first line of a report for display. */
function summarize(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return truncate(line, 120);
}
