import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { createAgent } from '../agent/agent.ts';
import type { Conversation } from '../contracts/conversation.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import { resolveModel } from '../model/catalog.ts';
import { BASE_PROMPT } from '../prompt/base-prompt.ts';
import { openTranscript } from '../session/transcript.ts';
import { chooseModel } from './choose-model.ts';
import type { Environment } from './environment.ts';
import { createLiveState } from './live-state.ts';
import { type Denial, makeConversation } from './make-conversation.ts';
import { makeDeps } from './make-deps.ts';
import { makeGate } from './make-gate.ts';
import { makeTools } from './make-tools.ts';
import { openSession } from './open-session.ts';
import { readSettings } from './read-settings.ts';
import { createUsageMeter } from './usage-meter.ts';
import { VERSION } from './version.ts';

export type Composed =
  | { readonly ok: true; readonly conversation: Conversation }
  | { readonly ok: false; readonly problem: string };

/** Where the concrete parts meet: everything a conversation is made of, wired once. */
export async function createConversation(options: RunOptions, environment: Environment): Promise<Composed> {
  const cwd = await realpath(options.cwd);
  const loaded = await readSettings(options, environment, options.trust === 'this-run');
  const session = await openSession(options, environment, cwd);
  if (!session.ok) return session;
  const choice = chooseModel(options, loaded.merged, environment, {});
  if (!choice.ok) return choice;

  const live = createLiveState({
    model: choice.model,
    effort: options.effort ?? loaded.merged.effort ?? 'off',
    thinkingTokens: options.maxThinkingTokens,
    mode: 'default',
    cwd,
    todos: [],
    title: session.rebuilt?.title,
    outputStyle: 'default',
  });
  const meter = createUsageMeter();
  const late: { tell: (event: AgentEvent) => void } = { tell: () => undefined };
  const transcript = openTranscript({
    ouroHome: environment.ouroHome,
    cwd,
    sessionId: session.id,
    gitBranch: undefined,
    version: VERSION,
    lastUuid: session.lastUuid,
    persistence: options.persistence,
    newId: randomUUID,
    now: Date.now,
    tell: (level, text) => late.tell({ type: 'notice', level, topic: 'session_store', text }),
  });
  const { tools, shells } = makeTools({
    environment,
    live,
    workspaceRoots: () => [cwd, ...options.addDirs],
    sessionFolder: transcript.folder,
    ledger: { started: () => undefined, ended: () => undefined },
    variables: () => ({ ...environment.variables, ...loaded.merged.env }),
    excluded: () => [],
  });
  const denials: Denial[] = [];
  const deps = makeDeps({
    options,
    settings: () => loaded.merged,
    live,
    model: choice.port,
    infoOf: choice.infoOf,
    resolveModel,
    system: () => [{ name: 'base', text: BASE_PROMPT }],
    tools: () => tools,
    costUsd: meter.costUsd,
    overrides: (port) => ({
      gate: makeGate(
        {
          roots: () => [cwd, ...options.addDirs],
          home: environment.home,
          mode: () => live.now().mode,
          canAsk: options.face !== 'print',
          onDenial: (request, reason) =>
            denials.push({ tool: request.tool, callId: request.callId, input: request.input, reason }),
          newId: randomUUID,
        },
        port,
      ),
    }),
    newId: randomUUID,
    now: Date.now,
  });
  const agent = createAgent({
    sessionId: session.id,
    messages: session.messages,
    listeners: [transcript.record, meter.hear],
    deps: (port) => {
      late.tell = (event) => void port.tell(event);
      return deps(port);
    },
    describe: () => {
      const { model, effort, mode, cwd: at } = live.now();
      return { model, effort, mode, cwd: at };
    },
    newId: randomUUID,
    now: Date.now,
  });
  const warnings = [
    ...session.warnings,
    ...loaded.problems.map(({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`),
  ];
  return {
    ok: true,
    conversation: makeConversation({
      agent,
      live,
      meter,
      transcript,
      choice,
      tools,
      shells,
      warnings,
      environment,
      denials: () => denials,
    }),
  };
}
