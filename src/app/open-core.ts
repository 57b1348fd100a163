import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import type { RunOptions } from '../contracts/face/run-options.ts';
import { asAgent } from '../extensions/as-agent.ts';
import { openRepository } from '../git/repository.ts';
import { chooseModel } from '../model/choose/choose-model.ts';
import { explainNoModel } from '../model/choose/explain-no-model.ts';
import { readProviders } from '../model/choose/read-providers.ts';
import { addSampleProject } from '../model/demo/place.ts';
import { effortProblem } from '../model/efforts.ts';
import { storedKeys } from '../model/keys/stored-keys.ts';
import { withToolAliases } from '../model/tool-aliases.ts';
import { createUsageMeter } from '../model/usage-meter.ts';
import { firstMode, withStoredMode } from '../permissions/first-mode.ts';
import { gitMayLook } from '../permissions/git-may-look.ts';
import { createLiveState } from '../session/live-state.ts';
import { keysAside } from '../settings/child-variables.ts';
import { createBus } from './bus.ts';
import type { Core } from './core.ts';
import { extensionGate } from './permissions/instruction-gate.ts';
import { firstLive } from './session/first-live.ts';
import { type OpenedSession, openSession } from './session/open-session.ts';
import type { StartedRun } from './session/start-run.ts';
import { folderTrust } from './settings/folder-trust.ts';
import { openLiveFiles } from './settings/live-files.ts';

export type OpenedCore =
  | { readonly ok: true; readonly core: Core; readonly opened: OpenedSession }
  | { readonly ok: false; readonly problem: string };

/** Reads what has to be known first: trust, the session, settings, the model and the mode. Nothing is contacted yet. */
export async function openCore(given: RunOptions, started: StartedRun): Promise<OpenedCore> {
  const bus = createBus();
  const cwd = await realpath(given.cwd);
  const [trust, session] = await Promise.all([
    folderTrust(cwd, started.environment, given.trust),
    openSession(given, started.environment, cwd),
  ]);
  if (!session.ok) return session;
  started.owns(session.claim);
  const { trusted } = trust;
  // Nothing of the folder is read before this point but its name.
  const { variables } = started.environment;
  const admits = extensionGate({ options: given, environment: started.environment, cwd, trust });
  const [repository, files] = await Promise.all([
    openRepository(cwd, { variables, trusted, mayLook: () => gitMayLook(cwd) }),
    openLiveFiles({ given, environment: started.environment, cwd, trust, tell: bus.tell, admits }),
  ]);
  const { settings, extensions } = files;
  const role = asAgent(given, extensions.now().agents);
  if (!role.ok) return role;
  const options = await addSampleProject(role.options);
  const environment = keysAside(started.environment, settings.now());
  const { problem, keys } = await storedKeys(environment);
  const onSignIn = (setting: string, line: string) =>
    void bus.tell({ type: 'notice', level: 'info', topic: 'model', text: `${setting}: ${line}` });
  const stored = { ...session.stored, keys, onSignIn };
  const chosen = chooseModel(options, settings.now(), environment, settings.limits, stored);
  const model = chosen.ok ? { ...chosen, port: withToolAliases(chosen.port, options.toolAliases) } : chosen;
  if (!model.ok) {
    const read = readProviders(settings.now(), environment, keys);
    return problem === undefined
      ? explainNoModel(model.problem, read.ok ? read.providers : {})
      : { ok: false, problem };
  }
  await model.lookUp(model.model);
  const refused = refusedEffort(options, model);
  if (refused !== undefined) return { ok: false, problem: refused };
  const mode = firstMode(withStoredMode(options, session.stored), settings.now(), environment);
  if (!mode.ok) return mode;
  const first = { model: model.model, mode: mode.mode, cwd };
  const live = createLiveState(firstLive(first, options, settings.now(), session));
  const core: Core = {
    options,
    environment,
    cwd,
    trusted,
    acceptsOutside: trust.acceptsOutside,
    settings,
    extensions,
    live,
    model,
    smallModel: () => model.smallModelFor(live.now().model),
    meter: createUsageMeter(model.infoOf),
    repository,
    bus,
    now: Date.now,
    newId: randomUUID,
  };
  return { ok: true, core, opened: session };
}

/** A flag that names an effort which the model does not have. Thinking switched off as far as that goes is no effort. */
function refusedEffort(
  { effort, maxThinkingTokens }: RunOptions,
  { model, infoOf }: Extract<ReturnType<typeof chooseModel>, { ok: true }>,
): string | undefined {
  if (effort === undefined || maxThinkingTokens === 0) return undefined;
  const why = effortProblem(effort, infoOf(model));
  return why === undefined ? undefined : `Option --effort: ${why}`;
}
