import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { ModelPort } from '../contracts/model.ts';
import type { PermissionMode } from '../contracts/permission.ts';
import type { LiveSessionValues, LiveSettings } from '../contracts/session-core.ts';
import { applyAgentToOptions } from '../extensions/apply-agent.ts';
import { type GitRepository, openGitRepository } from '../git/git-repository.ts';
import { createFileLocks } from '../lib/files/file-locks.ts';
import { createMountHealth } from '../lib/files/mount-health.ts';
import { createKnownKeys, type KnownKeys } from '../lib/text/known-keys.ts';
import { readStoredApiKeys } from '../model/api-keys.ts';
import { explainUnsupportedEffort } from '../model/efforts.ts';
import { applyToolAliases } from '../model/host-tool-aliases.ts';
import { addSampleProject } from '../model/providers/demo/sample-project.ts';
import { explainMissingModel } from '../model/registry/explain-missing-model.ts';
import { type ModelRegistry, openModelRegistry } from '../model/registry/model-registry.ts';
import { readProviderConfigs } from '../model/registry/provider-settings.ts';
import { withMergedDeltas } from '../model/stream/merge-deltas.ts';
import { createUsageMeter } from '../model/usage-meter.ts';
import { isGitSelfContained, isReadingGitSafe } from '../permissions/git-safety.ts';
import { resolveInitialMode, restorePermissionMode } from '../permissions/initial-mode.ts';
import { type OpenedSession, openRunSession } from '../session/open-run-session.ts';
import { createLiveSessionState } from '../session/persisted-state.ts';
import type { RegisteredRun } from '../session/run-cleanup-log.ts';
import { applySettingsEnvironment } from '../settings/effective-environment.ts';
import { type Core, type CurrentExtensions, createEventBus, createInbox, type EventBus } from './core.ts';
import { openLiveSettings } from './live-settings.ts';
import { createExtensionReadGate } from './permissions/instruction-read-gate.ts';
import { type FolderTrust, loadFolderTrust } from './trust/folder-trust.ts';

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
  const folder = await openFolder({ cwd, trust, bus }, runOptions, started.environment);
  const withAgent = applyAgentToOptions(runOptions, folder.extensions.current().agents);
  if (!withAgent.ok) return withAgent;
  const options = await addSampleProject(withAgent.options);
  const environment = applySettingsEnvironment(started.environment, folder.settings.loaded());
  const run: Run = { ...folder, options, environment, session };
  const model = await openModel(run);
  if (!model.ok) return model;
  const mode = resolveInitialMode(
    restorePermissionMode(options, session.stored),
    folder.settings.current(),
    environment,
  );
  return mode.ok ? { ok: true, core: createCore(run, model, mode.mode), opened: session } : mode;
}

/** The folder of a run, before anything in it is read. */
type TrustedFolder = { readonly cwd: string; readonly trust: FolderTrust; readonly bus: EventBus };

/** The opened folder of a run: what is known of its repository, settings and extensions. */
type OpenedFolder = TrustedFolder & {
  readonly repository: GitRepository;
  readonly settings: LiveSettings;
  readonly extensions: CurrentExtensions;
};

/** Reads repository, settings and extensions of a folder. For the run, nothing in the folder was read before. */
async function openFolder(
  folder: TrustedFolder,
  given: CliRunOptions,
  environment: Environment,
): Promise<OpenedFolder> {
  const { cwd, trust, bus } = folder;
  const canReadExtension = createExtensionReadGate({ options: given, environment, cwd, trust });
  const [repository, configuration] = await Promise.all([
    openGitRepository(cwd, {
      variables: environment.variables,
      trusted: trust.isTrusted,
      isConfigSafe: () => isReadingGitSafe(cwd),
      isSelfContained: () => isGitSelfContained(cwd),
    }),
    openLiveSettings({ given, environment, cwd, trust, emit: bus.emit, canReadExtension }),
  ]);
  return { ...folder, repository, ...configuration };
}

/** A run whose options and environment are complete, with its folder and session. */
type Run = OpenedFolder & {
  readonly options: CliRunOptions;
  readonly environment: Environment;
  readonly session: OpenedSession;
};

/** The models that a run can use, and the keys that must not be stored with its session. */
type OpenedModel = { readonly ok: true; readonly model: ModelRegistry; readonly knownKeys: KnownKeys };

/** Secrets of clouds that requests use. Unlike the keys of providers, commands get them. */
const CLOUD_SECRETS = [
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AZURE_CLIENT_SECRET',
  'CLOUDSDK_AUTH_ACCESS_TOKEN',
];

/** Opens keys, registry and port of the model, and looks up facts about it. Explains why no model can be used. */
async function openModel(run: Run): Promise<OpenedModel | { readonly ok: false; readonly problem: string }> {
  const { options, environment, cwd, settings, session, bus } = run;
  const { problem: keyProblem, keys } = await readStoredApiKeys(environment);
  const knownKeys = createKnownKeys();
  for (const [name, key] of Object.entries(environment.keys)) knownKeys.add(name, key);
  for (const name of CLOUD_SECRETS) knownKeys.add(name, environment.variables[name] ?? '');
  for (const [name, { key }] of keys) if (typeof key === 'string') knownKeys.add(name, key);
  const onSignIn = (setting: string, output: string) =>
    void bus.emit({ type: 'notice', level: 'info', topic: 'model', text: `${setting}: ${output}` });
  const stored = { ...session.stored, keys, onSignIn, onKey: knownKeys.add };
  const registry = openModelRegistry(options, settings.current(), environment, settings.limits, stored);
  if (!registry.ok) {
    if (keyProblem !== undefined) return { ok: false, problem: keyProblem };
    const configs = readProviderConfigs(settings.current(), environment, keys);
    return explainMissingModel(registry, configs.ok ? configs.providers : {});
  }
  const model = { ...registry, port: await wrapModelPort(registry.port, options, environment, cwd) };
  await model.lookUp(model.model);
  const effortProblem = explainUnusableEffort(options, model);
  return effortProblem === undefined ? { ok: true, model, knownKeys } : { ok: false, problem: effortProblem };
}

/** Creates the core of a run: its opened parts, its live values, and the empty state that its parts share. */
function createCore(run: Run, { model, knownKeys }: OpenedModel, mode: PermissionMode): Core {
  const { options, environment, cwd, trust, repository, settings, extensions, session, bus } = run;
  const live = createLiveSessionState(createLiveValues(run, model.model, mode));
  return {
    options,
    environment,
    cwd,
    trusted: trust.isTrusted,
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
}

/** Creates the live values of a run: from the options, else from the resumed session, else from the settings. */
function createLiveValues(run: Run, model: string, mode: PermissionMode): LiveSessionValues {
  const { options, cwd } = run;
  const { stored } = run.session;
  const settings = run.settings.current();
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

/** Explains why the effort flag does not fit the model. With thinking disabled by tokens the flag has no effect. */
function explainUnusableEffort(
  { effort, maxThinkingTokens }: CliRunOptions,
  { model, infoOf }: ModelRegistry,
): string | undefined {
  if (effort === undefined || maxThinkingTokens === 0) return undefined;
  const why = explainUnsupportedEffort(effort, infoOf(model));
  return why === undefined ? undefined : `Option --effort: ${why}`;
}
