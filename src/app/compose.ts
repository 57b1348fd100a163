import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { createAgent } from '../agent/agent.ts';
import type { AgentPort } from '../agent/parts.ts';
import type { Environment } from '../contracts/environment.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Conversation } from '../contracts/face/conversation.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import { asAgent } from '../extensions/as-agent.ts';
import { headBranch } from '../git/head-branch.ts';
import { repositoryRoot } from '../git/repository-root.ts';
import { gitSnapshot } from '../git/snapshot.ts';
import { makeHooks } from '../hooks/make-hooks.ts';
import { createOpeningHook } from '../hooks/opening-hook.ts';
import { chooseModel } from '../model/choose-model.ts';
import { besideSample } from '../model/demo/place.ts';
import { explainNoModel } from '../model/explain-no-model.ts';
import { storedKey } from '../model/keys/stored-key.ts';
import { unheldBudget } from '../model/unheld-budget.ts';
import { createUsageMeter } from '../model/usage-meter.ts';
import { firstMode, withStoredMode } from '../permissions/first-mode.ts';
import { gitMayLook } from '../permissions/git-may-look.ts';
import { openDebugLog } from '../session/debug-log.ts';
import { createLiveState } from '../session/live-state.ts';
import { forkNow } from '../session/stored/fork-session.ts';
import { childVariables, keysAside } from '../settings/child-variables.ts';
import { limitsOf } from '../settings/limits.ts';
import { gatedCalls } from './loop/gated-calls.ts';
import { hookNews } from './loop/hook-news.ts';
import { wireLoop } from './loop/loop.ts';
import { loopHooks } from './loop/loop-hooks.ts';
import { strayTools } from './loop/offer-tools.ts';
import { makeConversation } from './make-conversation.ts';
import { wireMcp } from './mcp/servers.ts';
import { wirePermissions } from './permissions/permissions.ts';
import { firstLive } from './session/first-live.ts';
import { openSession } from './session/open-session.ts';
import { wireSession } from './session/session.ts';
import { type StartedRun, startRun } from './session/start-run.ts';
import { folderTrust } from './settings/folder-trust.ts';
import { openLiveFiles } from './settings/live-files.ts';
import { problemLines } from './settings/problem-lines.ts';
import { examineHere } from './start/doctor-parts.ts';

export type Composed =
  | { readonly ok: true; readonly conversation: Conversation }
  | { readonly ok: false; readonly problem: string };

/** Where the concrete parts meet: everything a conversation is made of, wired once. */
export async function createConversation(given: RunOptions, surroundings: Environment): Promise<Composed> {
  const started = startRun(surroundings);
  const composed = await compose(given, started);
  // Who is refused holds nothing: not a session, not a place among those that run.
  if (!composed.ok) await started.abandon();
  return composed;
}

async function compose(given: RunOptions, started: StartedRun): Promise<Composed> {
  let port: AgentPort | undefined;
  const tell = async (event: AgentEvent) => port?.tell(event);
  const cwd = await realpath(given.cwd);
  const [trust, session] = await Promise.all([
    folderTrust(cwd, started.environment, given.trust),
    openSession(given, started.environment, cwd),
  ]);
  if (!session.ok) return session;
  started.owns(session.claim);
  const { trusted } = trust;
  const git = trusted
    ? gitSnapshot(cwd, started.environment.variables, () => gitMayLook(cwd))
    : Promise.resolve(undefined);
  const files = await openLiveFiles({ given, environment: started.environment, cwd, trust, tell });
  const [loaded, extensions] = [files.loaded(), files.extensions()];
  const role = asAgent(given, extensions.agents);
  if (!role.ok) return role;
  const options = await besideSample(role.options);
  const settings = loaded.merged;
  const environment = keysAside(started.environment, settings);
  const choice = chooseModel(options, settings, environment, limitsOf(environment, settings), {
    ...session.stored,
    ...(await storedKey(environment)),
  });
  if (!choice.ok) return explainNoModel(choice.problem);
  const mode = firstMode(withStoredMode(options, session.stored), settings, environment);
  if (!mode.ok) return mode;

  const live = createLiveState(firstLive({ model: choice.model, mode: mode.mode, cwd }, options, settings, session));
  const meter = createUsageMeter();
  const branch = trusted ? await headBranch(repositoryRoot(cwd)) : undefined;
  const kept = wireSession({
    opened: session,
    options,
    environment,
    cwd,
    branch,
    live,
    tell,
    choice,
    meter,
    roots: () => permissions.roots(),
    loop: () => loop,
    newId: randomUUID,
  });
  const { transcript, checkpoints } = kept;
  live.onChange(({ mode: changed }) => {
    if (changed !== undefined) void tell({ type: 'mode', mode: changed });
  });
  const permissions = wirePermissions({
    options,
    environment,
    cwd,
    trusted,
    loaded: files.loaded,
    live,
    mayBypass: mode.mayBypass,
    sessionFolder: transcript.folder,
    notice: (text) => void tell({ type: 'notice', level: 'warn', topic: 'permissions', text }),
    onStored: trust.renew,
    newId: randomUUID,
  });
  const ledger = started.ledgerOf(transcript);
  const mcp = await wireMcp({
    options,
    environment,
    cwd,
    trusted,
    loaded,
    settings: files.loaded,
    roots: permissions.roots,
    ledger,
    tell,
    expect: (why) => loop.observer.expect(why),
    newId: randomUUID,
  });
  const hooks = makeHooks({
    loaded: files.loaded,
    hostHooks: options.host?.hooks ?? [],
    session: { id: session.id, path: transcript.path ?? '' },
    live: live.now,
    cwd,
    variables: () => childVariables(environment, files.loaded().merged),
    timeoutMs: limitsOf(environment, settings).hookTimeoutMs,
    fitsRule: permissions.fitsRule,
    tell: (event) => void tell(event),
  });
  const loop = wireLoop({
    options,
    environment,
    cwd,
    trusted,
    settings: () => files.loaded().merged,
    extensions: files.extensions,
    live,
    choice,
    meter,
    transcript,
    hooks,
    git,
    tell,
    permissions,
    contextDecisions: session.contextDecisions,
    ledger,
    checkpoints,
    mcp,
    recorded: kept.recorded,
    sentBefore: kept.sentBefore,
    newId: randomUUID,
  });
  if (session.stored.files !== undefined) loop.readState.restore(session.stored.files);
  for (const words of session.news) loop.addNews(words);
  const debugLog = openDebugLog(options, environment.ouroHome, session.id, () => new Date());
  const promptHook = loopHooks(hooks, 'Stop').onPrompt;
  const opening = createOpeningHook(hooks, session.rebuilt === undefined ? 'startup' : 'resume');
  const agent = createAgent({
    sessionId: session.id,
    messages: session.messages,
    queued: session.stored.queued,
    listeners: [
      kept.record,
      meter.hear,
      loop.listen,
      hookNews(hooks, loop.addNews, options.face),
      ...(debugLog === undefined ? [] : [debugLog.hear]),
    ],
    attach: (attached) => {
      port = attached;
    },
    async onPrompt(words, signal) {
      await files.refresh();
      await mcp.refresh();
      await Promise.all([loop.ready(), started.ready]);
      const opened = await opening.context(signal);
      const verdict = await promptHook(words, signal);
      if (verdict.kind === 'block') return verdict;
      const news = await loop.prompt.collect();
      const context = [opened, verdict.context, ...news].filter((text) => text !== undefined);
      return context.length === 0 ? verdict : { kind: 'go', context: context.join('\n') };
    },
    deps: loop.deps,
    describe: () => {
      const { model, effort, mode: current, cwd: at } = live.now();
      return { model, effort, mode: current, cwd: at };
    },
    newId: randomUUID,
    now: Date.now,
  });
  const warnings = [
    ...(debugLog === undefined ? [] : [debugLog.words]),
    ...environment.problems,
    ...kept.warnings,
    ...unheldBudget(options, choice.infoOf(live.now().model)),
    ...permissions.warnings(),
    ...mcp.problems,
    ...(await hooks.deadGuards()),
    ...strayTools(options, loop.ownTools),
    ...problemLines(loaded, extensions),
  ];
  const conversation = makeConversation({
    agent,
    live,
    meter,
    transcript,
    choice,
    loop,
    hooks,
    warnings,
    environment,
    options,
    cwd,
    trusted,
    opening,
    loaded: files.loaded,
    extensions: files.extensions,
    branch,
    permissions,
    skipPermissions: mode.mayBypass,
    tell,
    ...gatedCalls({ port: () => port, loop, cwd: () => live.now().cwd, root: cwd, newId: randomUUID }),
    fork: () => forkNow(transcript),
    started,
    kept,
    checkpoints,
    files,
    mcp,
    examine: () => examineHere({ cwd: options.cwd, isTty: process.stdout.isTTY === true }, environment),
    newId: randomUUID,
  });
  mcp.start();
  return { ok: true, conversation };
}
