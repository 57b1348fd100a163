import { stat } from 'node:fs/promises';
import { release } from 'node:os';
import { join, resolve } from 'node:path';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Skill } from '../../contracts/extension.ts';
import { isJsonObject, type JsonValue } from '../../contracts/json.ts';
import type { SystemPart } from '../../contracts/model.ts';
import { createGitNews } from '../../git/news.ts';
import type { Answering } from '../../prompt/answering.ts';
import { createAttachments } from '../../prompt/attachments.ts';
import { createMemory, type Memory } from '../../prompt/memory/memory-files.ts';
import type { FileChange } from '../../prompt/news-state.ts';
import {
  initialPrompt,
  isDynamic,
  mustCompare,
  type PromptEvent,
  type PromptState,
  partText,
  reducePrompt,
} from '../../prompt/prompt-state.ts';
import { createSystemPrompt, renderSystem } from '../../prompt/system-prompt.ts';
import type { SentBefore } from '../../session/session-state.ts';
import { countsSource, type SettingSource } from '../../settings/counts-source.ts';
import type { Core } from '../core.ts';
import { instructionGate } from '../permissions/instruction-gate.ts';
import type { Permissions } from '../permissions/permissions.ts';

type DiskChange = { readonly path: string; readonly status: 'changed' | 'deleted' };

type Needs = {
  readonly permissions: Pick<Permissions, 'policy'>;
  /** What an earlier run of this session sent and told. */
  readonly sentBefore: Pick<SentBefore, 'system' | 'announced' | 'instructions'> | undefined;
  readonly tools: () => readonly string[];
  readonly offeredSkills: () => readonly Skill[];
  readonly mcpInstructions: () => readonly { readonly server: string; readonly instructions: string }[];
  readonly takeDiskChanges: () => Promise<readonly DiskChange[]>;
  readonly backgroundNews: () => readonly string[];
};

export type Prompt = ReturnType<typeof createPrompt>;

/** The system prompt, rendered once, and the news that come after it. */
export function createPrompt(core: Core, needs: Needs) {
  const { options, live, repository } = core;
  const { sentBefore } = needs;
  const { now, change } = holdState(
    initialPrompt(sentBefore && { system: sentBefore.system, memoryText: sentBefore.instructions ?? undefined }),
  );
  const memory = memoryOf(core, needs);
  const gitNews = createGitNews({ first: repository.atStart, look: repository.look, now: core.now });
  const dynamicParts = options.dynamicSections === undefined ? 'stay' : 'move';
  const system = createSystemPrompt(async () => {
    const parts = await render(core, needs, memory);
    change({ type: 'rendered', parts, dynamicParts });
    return dynamicParts === 'move' ? parts.filter((part) => !isDynamic(part)) : parts;
  }, sentBefore?.system);
  const attachments = createAttachments(
    {
      ...newsSources(core, needs),
      memory,
      touchedPaths: () => change({ type: 'touched_taken' }).touched,
      branch: () => now().branch,
      backgroundNews: () => [...change({ type: 'news_taken' }).news, ...gitNews.take(), ...needs.backgroundNews()],
    },
    sentBefore?.announced,
  );

  async function lookAtBranch(): Promise<void> {
    change({ type: 'branch', branch: await repository.branch() });
  }

  async function compare(): Promise<void> {
    if (!mustCompare(now())) return;
    const [rendered, git] = await Promise.all([render(core, needs, memory), repository.atStart]);
    // Two prompts may have asked at once.
    if (mustCompare(now())) change({ type: 'compared', system: system.parts(), rendered, git });
  }

  return {
    system,
    memory,
    async ready() {
      await Promise.all([system.ready(), compare(), lookAtBranch()]);
      attachments.begin();
    },
    /** What a resume needs so that it does not tell the same again. */
    known() {
      const { memoryText } = now();
      const isOfPrompt = memoryText === partText(system.parts(), 'memory');
      return { announced: attachments.knownFacts(), instructions: isOfPrompt ? null : memoryText };
    },
    async collect() {
      await lookAtBranch();
      return attachments.collect();
    },
    /** The conversation begins anew: so does its prompt. */
    renew(): void {
      system.forget();
      attachments.restart();
      change({ type: 'restarted' });
    },
    /** Where the conversation is and what holds there, for its sub-agents. */
    place: () => [...now().moved, ...system.parts().filter(isDynamic)],
    /** Calls touch files, compactions take what was told with them, and others may change the repository meanwhile. */
    listen(event: AgentEvent): void {
      const touched = event.type === 'tool_start' ? touchedPath(event.input) : undefined;
      if (touched !== undefined) change({ type: 'touched', path: resolve(live.now().cwd, touched) });
      if (event.type === 'compacted') {
        attachments.compacted();
        change({ type: 'compacted', system: system.parts() });
      }
      // Printing answers one prompt and leaves: there is no later one to tell it with.
      if (options.face === 'print') return;
      if (event.type === 'agent_start') gitNews.begin();
      if (event.type === 'agent_end') gitNews.rest();
    },
  };
}

/** A change answers with the state before it. */
function holdState(first: PromptState) {
  let state = first;
  return {
    now: () => state,
    change(event: PromptEvent): PromptState {
      const before = state;
      state = reducePrompt(before, event);
      return before;
    },
  };
}

function memoryOf(core: Core, { permissions }: Pick<Needs, 'permissions'>): Memory {
  const { environment, live, trusted, repository, options } = core;
  const counts = (source: SettingSource) => countsSource(options.settingSources, source);
  return createMemory({
    cwd: () => live.now().cwd,
    root: repository.root,
    home: environment.home,
    ownFiles: [
      { path: '/etc/ouro/CLAUDE.md', scope: 'managed' },
      ...(counts('user') ? ['CLAUDE.md', 'AGENTS.md'] : []).map((name) => ({
        path: join(environment.ouroHome, name),
        scope: 'user' as const,
      })),
    ],
    trusted: () => trusted && counts('project'),
    mayRead: instructionGate(core, permissions),
  });
}

async function render(core: Core, needs: Needs, memory: Memory): Promise<readonly SystemPart[]> {
  const { options, cwd } = core;
  const [files, git] = await Promise.all([memory.load(), core.repository.atStart]);
  const { language, style } = answering(core);
  return renderSystem({
    memory: files,
    ...listed(needs),
    environment: {
      cwd,
      additionalDirectories: options.addDirs,
      platform: process.platform,
      osRelease: release(),
      shell: '/bin/bash',
      date: today(),
      git,
    },
    mcp: needs.mcpInstructions(),
    ...(options.systemPrompt === undefined ? {} : { replacement: options.systemPrompt }),
    ...(options.appendSystemPrompt === undefined ? {} : { append: options.appendSystemPrompt }),
    ...(style === undefined ? {} : { outputStyle: style }),
    language,
  });
}

function answering({ options, live, extensions, settings }: Core): Answering {
  const wanted = live.now().outputStyle;
  // A prompt of somebody's own takes the place of every style.
  const styles = options.systemPrompt === undefined ? extensions.now().styles : [];
  const style = styles.find(({ name, text }) => name === wanted && text !== '');
  const { language } = settings.now();
  return {
    ...(language === undefined ? {} : { language }),
    ...(style === undefined ? {} : { style: { name: style.name, text: style.text } }),
  };
}

function listed({ offeredSkills }: Pick<Needs, 'offeredSkills'>) {
  return {
    skills: offeredSkills().map(({ name, description }) => ({ name, description })),
    // The Task tool's own description lists the kinds, so the prompt need not.
    agents: [],
  };
}

/** What needs no state of the prompt to be looked at. */
function newsSources(core: Core, needs: Needs) {
  const { takeDiskChanges, tools, mcpInstructions } = needs;
  const { live, options } = core;
  return {
    changedFiles: async () => Promise.all((await takeDiskChanges()).map(versionOf)),
    todos: () => live.now().todos,
    date: today,
    mode: () => live.now().mode,
    ...(options.planInstructions === undefined ? {} : { planInstructions: options.planInstructions }),
    answering: () => answering(core),
    catalog: () => ({
      ...listed(needs),
      agents: core.extensions.now().agents.map(({ name, description }) => ({ name, description })),
      tools: tools(),
      mcpInstructions: mcpInstructions(),
    }),
  };
}

async function versionOf({ path, status }: DiskChange): Promise<FileChange> {
  const facts = await stat(path).catch(() => undefined);
  return { path, kind: status, version: `${status} ${facts?.mtimeMs ?? ''}` };
}

function touchedPath(input: JsonValue): string | undefined {
  const path = isJsonObject(input) ? (input.file_path ?? input.notebook_path) : undefined;
  return typeof path === 'string' ? path : undefined;
}

function today(): string {
  const now = new Date();
  const two = (part: number) => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
