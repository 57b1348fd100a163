import { z } from 'zod';
import type { AgentKind } from '../../contracts/extension.ts';
import type { Usage } from '../../contracts/message.ts';
import type { Effort } from '../../contracts/model.ts';
import type { ToolStatement } from '../../contracts/permission.ts';
import { ToolFailure, type ToolOutcome, type ToolProgress } from '../../contracts/tool.ts';
import { buildTool } from '../build-tool.ts';
import { textOf } from '../stated-facts.ts';

const PROMPT = `Gives a task to a sub-agent with a conversation of its own; only its last message comes back. Good for searches that read a lot, and for independent pieces of work side by side (several calls in one reply).
Tell it everything it needs: it sees nothing of this conversation. Say what to give back.`;

/** What a sub-agent is asked. */
export type AgentOrder = {
  readonly callId: string;
  readonly type: string;
  readonly description: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly effort?: Effort | undefined;
  /** Asked for by the call itself, whatever the kind says. */
  readonly isolation?: 'worktree' | undefined;
  /** What it is called, so that it can be spoken to. */
  readonly name?: string | undefined;
  /** An earlier one, by its id or name, that goes on with this. */
  readonly resume?: string | undefined;
  readonly report: (progress: ToolProgress) => void;
};

export type AgentReport = {
  /** Absent when none was started. */
  readonly id?: string;
  readonly text: string;
  readonly calls: number;
  readonly tokens: number;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly failed: boolean;
  /** It goes on, and nobody waits for it any more. */
  readonly isMoved?: true;
};

/** A kind of sub-agent as far as its callers know it; nobody waits for one of the background. */
export type AgentType = Pick<AgentKind, 'name' | 'description' | 'background'>;

export type TaskParts = {
  readonly types: () => readonly AgentType[];
  readonly run: (order: AgentOrder, signal: AbortSignal) => Promise<AgentReport>;
  /** Runs without anybody waiting; answers with an id whose end is told as a notice. */
  readonly runInBackground: (order: AgentOrder, signal: AbortSignal) => Promise<string>;
};

const input = z.object({
  description: z.string().min(1).describe('The task in three to five words'),
  prompt: z.string().min(1),
  subagent_type: z.string().optional(),
  model: z.string().optional(),
  run_in_background: z.boolean().optional(),
  name: z.string().optional().describe('What you call it in a SendMessage; its id does as well'),
  resume: z.string().optional().describe('The id or name of an earlier one, which goes on with all it knows'),
  isolation: z
    .enum(['worktree'])
    .optional()
    .describe('worktree: it works on a branch of its own, in a git worktree of its own'),
});

/** What it says of itself to those who decide about its calls. */
export const taskStatement: ToolStatement = {
  name: 'Task',
  aliases: ['Agent'],
  facts: (input) => ({ kind: 'agent', specifier: textOf(input.subagent_type) ?? 'general-purpose' }),
  mainInput: 'subagent_type',
  result: 'once',
  subAgents: 'parents',
};

/** A sub-agent: its own loop, at most our permissions, gone when we are. */
export function createTaskTool(parts: TaskParts) {
  const types = parts.types().map(({ name, description }) => `- ${name}: ${description}`);
  return buildTool({
    ...taskStatement,
    prompt: `${PROMPT}\nKinds (subagent_type, default general-purpose):\n${types.join('\n')}`,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ description }) => description,
    async call({ subagent_type, run_in_background, ...wanted }, context) {
      const { resume, description, prompt } = wanted;
      // An earlier one is of its own kind.
      const { name: type, background } =
        resume === undefined ? typeOf(subagent_type, parts.types()) : { name: '', background: false };
      const order = { ...wanted, callId: context.callId, type, report: context.report };
      if (run_in_background ?? background === true) {
        const id = await parts.runInBackground(order, context.signal);
        return launched(id, `Started in the background as ${id}. ${LATER}`, { description, prompt });
      }
      const report = await parts.run(order, context.signal);
      return report.isMoved === true
        ? launched(report.id ?? '', report.text, { description, prompt })
        : outcomeOf(report, order);
    },
  });
}

const LATER = 'You are told when it has finished; SendMessage reaches it.';

/** What a call says of one that the person has sent to the background. */
export const movedWords = (id: string) =>
  `The user sent it to the background, where it goes on as ${id}. ${LATER} Go on with something else, or end your turn.`;

function launched(id: string, content: string, asked: Pick<AgentOrder, 'description' | 'prompt'>): ToolOutcome {
  return {
    content,
    display: { kind: 'text', text: `in the background as ${id}` },
    structured: { status: 'async_launched', isAsync: true, agentId: id, ...asked },
  };
}

/** What it has found, and by which name it can be asked for more. */
function outcomeOf(report: AgentReport, { type, prompt }: AgentOrder): ToolOutcome {
  const { id, text, calls, tokens, usage, durationMs, failed } = report;
  const again = id === undefined ? '' : `\n\n(${id}: SendMessage goes on with it)`;
  return {
    content: `${text === '' ? '(the sub-agent said nothing)' : text}${again}`,
    ...(failed ? { isError: true } : {}),
    display: { kind: 'agent', agentType: type, summary: firstWords(text), calls },
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
            usage: wireUsage(usage),
          },
        }),
  };
}

/** As hosts know it. */
function wireUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage) {
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

/** Names are given with and without capitals, with spaces or with what stands for them. */
function typeOf(wanted = 'general-purpose', known: readonly AgentType[]): AgentType {
  const plain = (name: string) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_]+/g, '-');
  const found = known.find(({ name }) => name === wanted) ?? known.find(({ name }) => plain(name) === plain(wanted));
  if (found !== undefined) return found;
  const names = known.map(({ name }) => name).join(', ');
  throw new ToolFailure(`There is no kind of sub-agent "${wanted}". There are: ${names}.`);
}

/** What a person reads beside the call: the line the answer begins with. */
function firstWords(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
