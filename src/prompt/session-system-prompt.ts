import { release } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { Skill } from '../contracts/extension.ts';
import type { ReminderMoment } from '../contracts/feature.ts';
import type { SystemPart } from '../contracts/model.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { SettingsLayer } from '../contracts/settings.ts';
import type { Extensions } from '../extensions/load-extensions.ts';
import type { GitRepository } from '../git/git-repository.ts';
import { findEnclosingRepository } from '../git/git-repository.ts';
import { omitUndefined } from '../lib/json.ts';
import { findShell } from '../lib/processes/find-shell.ts';
import { createStateHolder } from '../lib/state-holder.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import type { ModelRegistry } from '../model/registry/model-registry.ts';
import { describeAllowedCalls } from '../permissions/denial-message.ts';
import type { PermissionPolicySource } from '../permissions/permission-policy-source.ts';
import { isSettingsSourceEnabled, type SelectableSettingsSource } from '../settings/load-settings.ts';
import { TOOL_TRAITS } from '../tools/tool-traits.ts';
import type { MemoryDeps } from './memory/load-memory.ts';
import { type ConfiguredInstructions, listConfiguredInstructions } from './memory/memory-locations.ts';
import { createSessionMemory, type SessionMemory } from './memory/session-memory-files.ts';
import { createFactTracker, type ModelKnownFacts } from './session-facts.ts';
import {
  type AnswerPreferences,
  createSystemPrompt,
  type PromptEnvironment,
  renderSystemPrompt,
} from './system-prompt.ts';
import {
  createSystemPromptState,
  getPromptPartText,
  isFolderDependentPromptPart,
  reduceSystemPromptState,
  shouldCompareSystemPrompt,
} from './system-prompt-state.ts';

type PromptCore = SessionCore & {
  readonly extensions: { current(): Extensions; refresh(): Promise<void> };
  readonly model: ModelRegistry;
  readonly repository: GitRepository;
};

type PromptDeps = {
  readonly permissions: Pick<PermissionPolicySource, 'getPolicy'> & { readonly canAsk: boolean };
  /** Folder of the managed settings, which may have instructions. */
  readonly managedDir: string;
  /** Decides whether the model may get the instructions of a file. */
  readonly mayRead: MemoryDeps['mayRead'];
  /** Prompt and facts that an earlier run of this session sent. */
  readonly sentBefore:
    | {
        readonly system: readonly SystemPart[];
        readonly announced?: ModelKnownFacts | undefined;
        readonly instructions?: string | null | undefined;
      }
    | undefined;
  readonly tools: () => readonly string[];
  readonly offeredSkills: () => readonly Skill[];
  readonly mcpInstructions: () => readonly { readonly server: string; readonly instructions: string }[];
};

/** The system prompt of a conversation, and the feature that tells what has changed since. */
export type SessionSystemPrompt = ReturnType<typeof createSessionSystemPrompt>;

/** Creates the system prompt, which is rendered once; what changes later is told in reminders. */
export function createSessionSystemPrompt(core: PromptCore, deps: PromptDeps) {
  const { options, live, repository } = core;
  const { sentBefore } = deps;
  const { current, update } = createStateHolder(
    createSystemPromptState(
      sentBefore && { system: sentBefore.system, memoryText: sentBefore.instructions ?? undefined },
    ),
    reduceSystemPromptState,
  );
  const memory = createMemoryFiles(core, deps);
  const dynamicParts = options.dynamicSections === undefined ? 'stay' : 'move';
  const system = createSystemPrompt(async () => {
    const parts = await renderParts(core, deps, memory);
    update({ type: 'rendered', parts, dynamicParts });
    return dynamicParts === 'move' ? parts.filter((part) => !isFolderDependentPromptPart(part)) : parts;
  }, sentBefore?.system);
  const facts = createFactTracker(
    {
      date: formatToday,
      branch: () => current().branch,
      mode: () => live.current().mode,
      ...omitUndefined({ planInstructions: options.planInstructions }),
      answering: () => resolveAnswerStyle(core),
      catalog: () => ({
        ...listSkillsAndAgents(deps),
        agents: core.extensions.current().agents.map(({ name, description }) => ({ name, description })),
        tools: deps.tools(),
        mcpInstructions: deps.mcpInstructions(),
      }),
    },
    sentBefore?.announced,
  );

  async function updateBranch(): Promise<void> {
    update({ type: 'branch', branch: await repository.readBranch() });
  }

  async function compareWithEarlierRun(): Promise<void> {
    if (!shouldCompareSystemPrompt(current())) return;
    const [rendered, git] = await Promise.all([renderParts(core, deps, memory), repository.initialSnapshot]);
    // Checked again: two prompts may have started the comparison at the same time.
    if (shouldCompareSystemPrompt(current())) update({ type: 'compared', system: system.parts(), rendered, git });
  }

  return {
    name: 'session facts',
    system,
    memory,
    async ready() {
      await Promise.all([system.ready(), compareWithEarlierRun(), updateBranch()]);
      facts.begin();
    },
    /** Returns the facts the model knows, so that a resume does not repeat them. */
    save() {
      const { memoryText } = current();
      const isInSystemPrompt = memoryText === getPromptPartText(system.parts(), 'memory');
      return { announced: facts.getKnownFacts(), instructions: isInSystemPrompt ? null : memoryText };
    },
    /** Returns the branch as the model knows it. */
    getBranch: () => current().branch,
    /** Tells the model what has changed since the last request. */
    async reminders(moment: ReminderMoment): Promise<readonly string[]> {
      // A call may have changed extensions; before a prompt they are read with the settings.
      if (moment === 'turn') await core.extensions.refresh();
      await updateBranch();
      return [...facts.collect(), ...update({ type: 'news_taken' }).news].map(wrapInReminder);
    },
    /** Resets the prompt for a cleared conversation. */
    restart(): void {
      system.forget();
      facts.restart();
      update({ type: 'restarted' });
    },
    /** Returns the parts about the environment of the conversation, for sub-agents. */
    listDynamicParts: () => [...current().moved, ...system.parts().filter(isFolderDependentPromptPart)],
    onEvent({ type }: AgentEvent): void {
      if (type !== 'compacted') return;
      facts.compacted();
      update({ type: 'compacted', system: system.parts() });
    },
  };
}

function createMemoryFiles(core: PromptCore, { managedDir, mayRead }: PromptDeps): SessionMemory {
  const { environment, live, trusted, repository, options } = core;
  const isIncluded = (source: SelectableSettingsSource) => isSettingsSourceEnabled(options.settingSources, source);
  return createSessionMemory({
    cwd: () => live.current().cwd,
    root: repository.root,
    home: environment.home,
    globalFiles: [
      { path: join(managedDir, 'CLAUDE.md'), scope: 'managed' },
      ...(isIncluded('user') ? ['CLAUDE.md', 'AGENTS.md'] : []).map((name) => ({
        path: join(environment.ouroHome, name),
        scope: 'user' as const,
      })),
    ],
    isTrusted: () => trusted && isIncluded('project'),
    listNamedFiles() {
      const named = listNamedInstructions(core.settings.loaded().layers);
      const folders = [...new Set([repository.root, live.current().cwd])];
      return listConfiguredInstructions(named, { folders, home: environment.home });
    },
    mayRead,
  });
}

/** Lists what the layers of the settings name, the user's own first. */
function listNamedInstructions(layers: readonly SettingsLayer[]): readonly ConfiguredInstructions[] {
  return layers.toReversed().flatMap(({ source, settings: { instructionFiles = [] } }) => {
    const by = source === 'project' || source === 'local' ? 'project' : 'user';
    return instructionFiles.map((pattern): ConfiguredInstructions => ({ pattern, by }));
  });
}

async function renderParts(core: PromptCore, deps: PromptDeps, memory: SessionMemory): Promise<readonly SystemPart[]> {
  const { options, cwd } = core;
  const [files, git] = await Promise.all([memory.load(), core.repository.initialSnapshot]);
  const { language, style } = resolveAnswerStyle(core);
  return renderSystemPrompt({
    memory: files,
    ...listSkillsAndAgents(deps),
    environment: {
      cwd,
      additionalDirectories: options.addDirs,
      platform: process.platform,
      osRelease: release(),
      shell: findShell('bash', core.environment.variables) ?? 'none',
      date: formatToday(),
      git: git ?? explainUnreadRepository(core),
      ...describeModelAndPermissions(core, deps),
    },
    mcp: deps.mcpInstructions(),
    ...omitUndefined({ replacement: options.systemPrompt, append: options.appendSystemPrompt, outputStyle: style }),
    language,
  });
}

/** Returns why the state of the repository is unknown; `undefined` if there is none. */
function explainUnreadRepository({ cwd, trusted }: PromptCore): 'untrusted' | 'failed' | undefined {
  if (findEnclosingRepository(cwd) === undefined) return undefined;
  return trusted ? 'failed' : 'untrusted';
}

function describeModelAndPermissions(
  { live, model }: PromptCore,
  { permissions }: PromptDeps,
): Pick<PromptEnvironment, 'model' | 'permissions'> {
  const { cwd, mode, model: id } = live.current();
  const policy = permissions.getPolicy(cwd);
  return {
    model: { id, knowledge: model.infoOf(id).knowledge },
    permissions: {
      mode,
      sandbox: policy.sandbox === undefined ? 'off' : 'on',
      ...(permissions.canAsk ? {} : { unattended: describeAllowedCalls(policy, TOOL_TRAITS) }),
    },
  };
}

function resolveAnswerStyle({ options, live, extensions, settings }: PromptCore): AnswerPreferences {
  const styleName = live.current().outputStyle;
  // A custom system prompt replaces all output styles.
  const styles = options.systemPrompt === undefined ? extensions.current().styles : [];
  const style = styles.find(({ name, text }) => name === styleName && text !== '');
  const { language } = settings.current();
  return {
    ...(language === undefined ? {} : { language }),
    ...(style === undefined ? {} : { style: { name: style.name, text: style.text } }),
  };
}

function listSkillsAndAgents({ offeredSkills }: PromptDeps) {
  return {
    skills: offeredSkills().map(({ name, description }) => ({ name, description })),
    // The description of the Task tool lists the sub-agent types.
    agents: [],
  };
}

function formatToday(): string {
  const now = new Date();
  const pad = (part: number) => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`;
}
