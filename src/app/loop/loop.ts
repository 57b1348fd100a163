import { join } from 'node:path';
import type { AgentPort } from '../../agent/parts.ts';
import type { Decision } from '../../context/decisions.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { AgentKind } from '../../contracts/extension.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { GitSnapshot } from '../../contracts/git-snapshot.ts';
import type { LiveState } from '../../contracts/live.ts';
import type { ModelPort } from '../../contracts/model.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { Tool } from '../../contracts/tool.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { withOwn } from '../../extensions/tools-of-agent.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { asJson } from '../../lib/as-json.ts';
import { resolveModel } from '../../model/catalog.ts';
import type { PortChoice } from '../../model/choose-port.ts';
import type { UsageMeter } from '../../model/usage-meter.ts';
import { type Earlier, repeatSpecs } from '../../session/earlier.ts';
import type { Transcript } from '../../session/records/transcript.ts';
import { childVariables } from '../../settings/child-variables.ts';
import { limitsOf } from '../../settings/limits.ts';
import type { BashParts } from '../../tools/bash/bash.ts';
import { createCapResult } from '../../tools/cap-result.ts';
import { createSpecOrder } from '../../tools/spec-order.ts';
import { requireAnswer } from '../../tools/structured-output/require-answer.ts';
import type { WiredMcp } from '../mcp/servers.ts';
import type { GateBounds } from '../permissions/gate.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { WiredCheckpoints } from '../session/checkpoints.ts';
import { gateWithHooks } from './hook-news.ts';
import { loopHooks } from './loop-hooks.ts';
import { type ContextWiring, contextOfAgent, makeContext } from './make-context.ts';
import { makeDeps } from './make-deps.ts';
import { makePrompt } from './make-prompt.ts';
import { makeTools } from './make-tools.ts';
import { createObserver } from './observe.ts';
import { fittingTools, makeDeferral, offerTools } from './offer-tools.ts';
import { makeSubagents } from './run-subagent.ts';
import { makeSideAsks } from './side-asks.ts';

export type LoopWiring = {
  readonly options: RunOptions;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trusted: boolean;
  readonly settings: () => Settings;
  readonly extensions: () => Extensions;
  readonly live: LiveState;
  readonly choice: Extract<PortChoice, { ok: true }>;
  readonly meter: UsageMeter;
  readonly transcript: Transcript;
  readonly hooks: Hooks;
  readonly git: Promise<GitSnapshot | undefined>;
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly permissions: Permissions;
  readonly contextDecisions: readonly Decision[];
  readonly ledger: BashParts['ledger'];
  readonly checkpoints: WiredCheckpoints | undefined;
  readonly mcp: WiredMcp;
  /** The port of the main conversation, each request on record before it leaves. */
  readonly recorded: ModelPort;
  /** What an earlier run of this session sent and told: repeated, not made anew. */
  readonly earlier: Earlier | undefined;
  readonly newId: () => string;
};

/** What the loop runs on: tools, context, prompt, gate, sub-agents. */
export type LoopParts = ReturnType<typeof wireLoop>;

export function wireLoop(wiring: LoopWiring) {
  const { options, environment, live, choice, meter, transcript, hooks, extensions, permissions, newId } = wiring;

  let notices: string[] = [];
  let current: { readonly port: AgentPort } | undefined;
  const ending = new AbortController();

  const subagents = makeSubagents({
    kinds: () => extensions().agents,
    deps: (kind) => depsOf(portNow(), 'SubagentStop', kind),
    tools: (reads) => withOwn(offered(), box.fileTools(reads)),
    environmentPart: () => prompt.place(),
    contextFor: (agent) => contextOfAgent(contextWiring, agent),
    resolveModel,
    cwd: () => live.now().cwd,
    hooks,
    tell: wiring.tell,
    notice: (words) => notices.push(words),
    newId,
    signal: () => ending.signal,
  });
  const asks = makeSideAsks({ choice, model: () => live.now().model, onUsage: meter.add });
  const box = makeTools({
    environment,
    limits: limitsOf(environment, wiring.settings()),
    live,
    workspaceRoots: permissions.roots,
    sessionFolder: transcript.folder,
    ledger: wiring.ledger,
    variables: () => childVariables(environment, wiring.settings()),
    excluded: permissions.excluded,
    permissions,
    skills: {
      names: () => extensions().skills.map(({ name }) => name),
      find: async (name) => {
        const skill = extensions().skills.find((one) => one.name === name);
        return skill && { name, text: skill.body, folder: skill.folder };
      },
    },
    task: subagents,
    asks,
    deferred: { all: () => deferral.all(), load: (names) => deferral.load(names) },
    keepPlan: (plan) => live.change({ plan }),
    ...(wiring.checkpoints === undefined ? {} : { beforeChange: wiring.checkpoints.beforeChange }),
    answerSchema: options.jsonSchema,
    tell: (event) => void wiring.tell(event),
  });
  const watch = (given: readonly Tool[]) => wiring.checkpoints?.watch(given) ?? given;
  const tools = () => offerTools(watch([...box.tools, ...wiring.mcp.tools()]), options, permissions.rules());
  const offered = () => fittingTools(tools(), choice.infoOf(live.now().model));
  const deferral = makeDeferral(offered, () => choice.infoOf(live.now().model));
  const sentBefore = wiring.earlier?.tools ?? [];
  deferral.load(sentBefore.map(({ name }) => name));
  const inOrder = createSpecOrder(sentBefore);
  const specsOf = (offering: readonly Tool[]) => inOrder(repeatSpecs(deferral.toolSpecs(offering), sentBefore));
  const prompt = makePrompt({
    options,
    environment,
    cwd: wiring.cwd,
    trusted: () => wiring.trusted,
    live,
    extensions,
    git: wiring.git,
    earlier: wiring.earlier,
    tools: () => offered().map(({ name }) => name),
    mcpInstructions: wiring.mcp.hub.instructions,
    takeDiskChanges: box.readState.takeDiskChanges,
    backgroundNews: () => {
      const news = [...box.shells.takeNotices(), ...notices];
      notices = [];
      return news;
    },
  });
  const observer = createObserver((event) => void wiring.tell(event));
  const contextWiring: ContextWiring = {
    live,
    options,
    settings: wiring.settings,
    infoOf: choice.infoOf,
    port: choice.port,
    system: prompt.system.parts,
    specs: () => specsOf(offered()),
    tools: offered,
    readState: box.readState,
    folder: transcript.folder,
    hooks,
    plan: () => live.now().plan,
    onUsage: meter.add,
    onLevel: observer.level,
    tell: (event) => void wiring.tell(event),
    remember: (decision) => void transcript.append({ type: 'system', subtype: 'context', data: asJson(decision) }),
    newId,
  };
  const context = makeContext(contextWiring);
  context.restore(wiring.contextDecisions);

  function portNow(): AgentPort {
    if (current === undefined) throw new Error('A sub-agent was started outside of a query.');
    return current.port;
  }

  function depsOf(port: AgentPort, stop: 'Stop' | 'SubagentStop', kind?: AgentKind, bounds?: GateBounds): QueryDeps {
    const { beforeCall, afterCall, onStop } = loopHooks(hooks, stop, kind?.name);
    const { permissionMode } = kind ?? {};
    const gate = gateWithHooks(hooks, port, (asking) =>
      permissions.gate(asking, {
        ...(permissionMode === undefined ? {} : { mode: permissionMode }),
        ...bounds,
      }),
    );
    return makeDeps({
      options,
      settings: wiring.settings,
      live,
      model: stop === 'Stop' ? wiring.recorded : choice.port,
      infoOf: choice.infoOf,
      system: prompt.system.parts,
      tools: offered,
      context,
      costUsd: meter.costUsd,
      overrides: () => ({
        gate,
        beforeCall: permissions.watched(port, beforeCall),
        afterCall,
        onStop: stop === 'Stop' ? requireAnswer(options.jsonSchema, onStop) : onStop,
        capResult: createCapResult(() => join(transcript.folder, 'results')),
        toolSpecs: specsOf,
        ...(asks.summarizeCalls === undefined || options.face !== 'screen'
          ? {}
          : { summarizeCalls: asks.summarizeCalls }),
        attachments: prompt.collect,
        ...(stop === 'Stop' ? { transformRequest: observer.sent } : {}),
      }),
      newId,
      now: Date.now,
    })(port);
  }

  return {
    tools,
    ownTools: box.tools,
    gate: (port: AgentPort, bounds: GateBounds) => depsOf(port, 'Stop', undefined, bounds).gate,
    locator: box.locator,
    shells: box.shells,
    readState: box.readState,
    context,
    prompt,
    subagents,
    roots: permissions.roots,
    plan: () => live.now().plan,
    observer,
    ready: async () => {
      await Promise.all([prompt.ready(), wiring.mcp.ready()]);
    },
    deps(port: AgentPort): QueryDeps {
      current = { port };
      return depsOf(port, 'Stop');
    },
    /** What events mean for the parts: touched paths, background work that ends with the agent. */
    listen(event: AgentEvent): void {
      observer.hear(event);
      prompt.listen(event);
    },
    addNews: (words: string) => void notices.push(words),
    stopBackground: () => ending.abort(),
  };
}
