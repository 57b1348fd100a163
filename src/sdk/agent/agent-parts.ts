import { type AgentConnection, createAgentConnection } from '../../agent/agent-connection.ts';
import { type AgentRunRecords, createAgentRunRecords } from '../../agent/agent-run-records.ts';
import { createBudget } from '../../agent/budget.ts';
import { createSpendingMeter, type SpendingMeter } from '../../agent/spending.ts';
import { createToolUndoLog, type ToolUndoLog } from '../../agent/undo-calls.ts';
import type { AgentListener } from '../../contracts/agent.ts';
import type { ContextPort } from '../../contracts/query.ts';
import { createApplicationContext } from './default-context.ts';
import type { AgentOptions } from './options.ts';
import { type AgentSetup, createAgentSetup } from './setup.ts';
import { type CapsuleResumption, createSuspension, type Suspension } from './suspension.ts';

type Logger = NonNullable<AgentOptions['logger']>;

/** The parts that an agent in an application is made from, and that its runs and commands use. */
export type AgentParts = {
  readonly options: AgentOptions;
  readonly sessionId: string;
  readonly cwd: string;
  readonly newId: () => string;
  readonly now: () => number;
  readonly log: Logger;
  readonly connection: AgentConnection;
  readonly undo: ToolUndoLog;
  readonly setup: AgentSetup;
  readonly meter: SpendingMeter;
  readonly runs: AgentRunRecords;
  readonly context: ContextPort;
  readonly suspension: Suspension;
  /** The suspended run that this agent continues. */
  readonly resumption: CapsuleResumption | undefined;
  /** Listeners that answer questions. */
  readonly answerers: Set<AgentListener>;
};

/** Creates the parts of an agent; what they emit waits for the agent that is attached to their connection. */
export function createAgentParts(options: AgentOptions, resumption: CapsuleResumption | undefined): AgentParts {
  const { newId = () => crypto.randomUUID(), now = Date.now, sessionId = newId(), cwd = '/', logger } = options;
  const connection = createAgentConnection();
  const undo = createToolUndoLog({
    report: (level, text) => void connection.emit({ type: 'notice', level, topic: 'undo', text }),
    newId,
  });
  const setup = createAgentSetup(
    options,
    async (call) => resumption?.getOutcome(call.context.callId) ?? undo.run(call),
  );
  const meter = createSpendingMeter({
    budgets: [
      options.budget ?? [],
      options.maxBudgetUsd === undefined ? [] : createBudget(options.maxBudgetUsd),
    ].flat(),
    getModelInfo: (model) => setup.current().chain.getModelInfo(model),
    onSpent: (request, total) => void connection.emit({ type: 'spending', request, total }),
  });
  return {
    ...{ options, sessionId, cwd, newId, now, connection, undo, setup, meter, resumption },
    log: createSafeLogger(logger ?? (() => undefined)),
    runs: createAgentRunRecords(meter),
    context: createApplicationContext(options, setup, meter, newId),
    suspension: createSuspension(sessionId, () => connection.getPort().messages(), options.saveCapsule),
    answerers: new Set(),
  };
}

/** Wraps a logger so that its own errors are ignored. */
function createSafeLogger(logger: Logger): Logger {
  const write = async (...line: Parameters<Logger>) => logger(...line);
  return (level, text) => {
    write(level, text).catch(() => undefined);
  };
}
