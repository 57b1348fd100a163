import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { ModelPort } from '../contracts/model.ts';
import type { LiveSessionValues } from '../contracts/session-core.ts';
import type { Settings } from '../contracts/settings.ts';
import { applyAgentToOptions } from '../extensions/apply-agent.ts';
import { openGitRepository } from '../git/git-repository.ts';
import { createFileLocks } from '../lib/files/file-locks.ts';
import { createMountHealth } from '../lib/files/mount-health.ts';
import { createKnownKeys } from '../lib/text/known-keys.ts';
import { readStoredApiKeys } from '../model/api-keys.ts';
import { explainUnsupportedEffort } from '../model/efforts.ts';
import { applyToolAliases } from '../model/host-tool-aliases.ts';
import { addSampleProject } from '../model/providers/demo/sample-project.ts';
import { explainMissingModel } from '../model/registry/explain-missing-model.ts';
import { openModelRegistry } from '../model/registry/model-registry.ts';
import { readProviderConfigs } from '../model/registry/provider-settings.ts';
import { withMergedDeltas } from '../model/stream/merge-deltas.ts';
import { createUsageMeter } from '../model/usage-meter.ts';
import { isGitSelfContained, isReadingGitSafe } from '../permissions/git-safety.ts';
import { resolveInitialMode, restorePermissionMode } from '../permissions/initial-mode.ts';
import { type OpenedSession, openRunSession } from '../session/open-run-session.ts';
import { createLiveSessionState } from '../session/persisted-state.ts';
import type { RegisteredRun } from '../session/run-cleanup-log.ts';
import { applySettingsEnvironment } from '../settings/effective-environment.ts';
import { type Core, createEventBus, createInbox } from './core.ts';
import { openLiveSettings } from './live-settings.ts';
import { createExtensionReadGate } from './permissions/instruction-read-gate.ts';
import { loadFolderTrust } from './trust/folder-trust.ts';

/** The opened core and session, or the reason why the run cannot start. */
type OpenedCore =
  | { readonly ok: true; readonly core: Core; readonly opened: OpenedSession }
  | { readonly ok: false; readonly problem: string };

/** Opens trust, session, settings, model and mode. No server is contacted yet. */
export async function openCore(runOptions: CliRunOptions, started: RegisteredRun): Promise<OpenedCore> {
  const bus = createEventBus();
  const cwd = await realpath(runOptions.cwd);
  const [trust, session] = await Promise.all([
    loadFolderTrust(cwd, started.environment, runOptions.trust),
    openRunSession(runOptions, started.environment, cwd),
  ]);
  if (!session.ok) return session;
  started.setLock(session.lock);
  const { isTrusted } = trust;
  // Before this point nothing in the folder was read, only its name.
  const { variables } = started.environment;
  const admits = createExtensionReadGate({ options: runOptions, environment: started.environment, cwd, trust });
  const [repository, files] = await Promise.all([
    openGitRepository(cwd, {
      variables,
      trusted: isTrusted,
      isConfigSafe: () => isReadingGitSafe(cwd),
      isSelfContained: () => isGitSelfContained(cwd),
    }),
    openLiveSettings({ given: runOptions, environment: started.environment, cwd, trust, tell: bus.emit, admits }),
  ]);
  const { settings, extensions } = files;
  const role = applyAgentToOptions(runOptions, extensions.current().agents);
  if (!role.ok) return role;
  const options = await addSampleProject(role.options);
  const environment = applySettingsEnvironment(started.environment, settings.loaded());
  const { problem, keys } = await readStoredApiKeys(environment);
  const onSignIn = (setting: string, output: string) =>
    void bus.emit({ type: 'notice', level: 'info', topic: 'model', text: `${setting}: ${output}` });
  const knownKeys = createKnownKeys();
  for (const [name, key] of Object.entries(environment.keys)) knownKeys.add(name, key);
  for (const [name, { key }] of keys) if (typeof key === 'string') knownKeys.add(name, key);
  const stored = { ...session.stored, keys, onSignIn, onKey: knownKeys.add };
  const chosen = openModelRegistry(options, settings.current(), environment, settings.limits, stored);
  const model = chosen.ok ? { ...chosen, port: await wrapModelPort(chosen.port, options, environment, cwd) } : chosen;
  if (!model.ok) {
    const read = readProviderConfigs(settings.current(), environment, keys);
    return problem === undefined ? explainMissingModel(model, read.ok ? read.providers : {}) : { ok: false, problem };
  }
  await model.lookUp(model.model);
  const effortError = checkEffort(options, model);
  if (effortError !== undefined) return { ok: false, problem: effortError };
  const mode = resolveInitialMode(restorePermissionMode(options, session.stored), settings.current(), environment);
  if (!mode.ok) return mode;
  const first = { model: model.model, mode: mode.mode, cwd };
  const live = createLiveSessionState(createLiveValues(first, options, settings.current(), session));
  const core: Core = {
    options,
    environment,
    cwd,
    trusted: isTrusted,
    acceptsExternalFile: trust.acceptsOutside,
    programs: trust.programs,
    settings,
    extensions,
    live,
    model,
    knownKeys,
    smallModel: () => model.getSmallModel(live.current().model),
    meter: createUsageMeter(model.infoOf, { messages: session.messages, spentUsd: session.stored.spentUsd ?? 0 }),
    repository,
    mounts: createMountHealth(),
    locks: createFileLocks(environment.ouroHome),
    bus,
    inbox: createInbox(session.news),
    now: Date.now,
    newId: randomUUID,
  };
  return { ok: true, core, opened: session };
}

/** A screen draws ten frames a second; a delta is shown with the frame after it. */
const SHOWN_DELTA_INTERVAL_MS = 50;

/** Wraps the model port of a run: recorded replies if the environment asks for it, tool aliases, merged deltas. */
async function wrapModelPort(
  port: ModelPort,
  { toolAliases, frontend }: CliRunOptions,
  environment: Environment,
  cwd: string,
): Promise<ModelPort> {
  const aliased = applyToolAliases(await applyRecording(port, environment, cwd), toolAliases);
  return frontend === 'screen' ? withMergedDeltas(aliased, SHOWN_DELTA_INTERVAL_MS) : aliased;
}

/** Records the replies of the model, or replays recorded ones, if the environment asks for it. */
async function applyRecording(port: ModelPort, environment: Environment, cwd: string): Promise<ModelPort> {
  const { modelRecording, home, ouroHome } = environment;
  if (modelRecording === undefined) return port;
  const { openRecordedModel } = await import('../model/recorded-model.ts');
  return openRecordedModel(port, modelRecording, { workspace: cwd, ouroHome, home });
}

/** Returns why the effort flag does not fit the model. With thinking disabled by tokens the flag has no effect. */
function checkEffort(
  { effort, maxThinkingTokens }: CliRunOptions,
  { model, infoOf }: Extract<ReturnType<typeof openModelRegistry>, { ok: true }>,
): string | undefined {
  if (effort === undefined || maxThinkingTokens === 0) return undefined;
  const why = explainUnsupportedEffort(effort, infoOf(model));
  return why === undefined ? undefined : `Option --effort: ${why}`;
}

/** Creates the live values of a run: from the options, else from the resumed session, else from the settings. */
function createLiveValues(
  { model, mode, cwd }: Pick<LiveSessionValues, 'model' | 'mode' | 'cwd'>,
  options: Pick<CliRunOptions, 'effort' | 'maxThinkingTokens'>,
  settings: Pick<Settings, 'effort' | 'outputStyle'>,
  { stored }: Pick<OpenedSession, 'stored'>,
): LiveSessionValues {
  return {
    model,
    effort: options.effort ?? stored.effort ?? settings.effort ?? 'auto',
    thinkingTokens: options.maxThinkingTokens ?? stored.thinkingTokens,
    mode,
    cwd: stored.cwd ?? cwd,
    todos: stored.todos ?? [],
    title: stored.title?.title,
    outputStyle: stored.outputStyle ?? settings.outputStyle ?? 'default',
    plan: stored.plan,
    grants: stored.grants ?? [],
    directories: stored.directories ?? [],
  };
}
