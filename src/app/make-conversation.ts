import type { Agent } from '../contracts/agent.ts';
import type { Conversation, ConversationInfo } from '../contracts/conversation.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import type { Hooks } from '../hooks/create-hooks.ts';
import { listModels, resolveModel } from '../model/catalog.ts';
import type { PortChoice } from '../model/choose-port.ts';
import type { Transcript } from '../session/transcript.ts';
import type { Environment } from './environment.ts';
import { isMode, MODES } from './first-mode.ts';
import type { LiveState } from './live-state.ts';
import type { Extensions } from './load-extensions.ts';
import type { UsageMeter } from './usage-meter.ts';
import { VERSION } from './version.ts';
import type { LoopParts } from './wire-loop.ts';

/** The concrete parts behind one conversation. */
export type ConversationParts = {
  readonly agent: Agent;
  readonly live: LiveState;
  readonly meter: UsageMeter;
  readonly transcript: Transcript;
  readonly choice: Extract<PortChoice, { ok: true }>;
  readonly loop: LoopParts;
  readonly hooks: Hooks;
  readonly warnings: readonly string[];
  readonly environment: Environment;
  readonly options: RunOptions;
  readonly trusted: boolean;
  readonly extensions: () => Extensions;
  readonly branch: string | undefined;
  readonly skipPermissions: 'may bypass' | 'may not bypass';
  readonly denials: () => readonly Denial[];
};

export type Denial = ConversationInfo['permissionDenials'][number];

/** One object for every face. */
export function makeConversation(parts: ConversationParts): Conversation {
  const { agent, live, meter, transcript, choice } = parts;
  return {
    agent,
    info: () => ({
      sessionId: agent.sessionId,
      title: live.now().title,
      transcriptPath: transcript.path,
      cwd: live.now().cwd,
      gitBranch: parts.branch,
      model: live.now().model,
      modelInfo: choice.infoOf(live.now().model),
      effort: live.now().effort,
      mode: live.now().mode,
      tools: parts.loop.tools.map((tool) => tool.name),
      mcpServers: [],
      agents: parts.extensions().agents.map(({ name }) => name),
      skills: parts.extensions().skills.map(({ name }) => name),
      outputStyle: live.now().outputStyle,
      apiKeySource: choice.keySource,
      version: VERSION,
      isDemo: choice.provider === 'demo',
      trusted: parts.trusted,
      contextTokens: meter.contextTokens(),
      todos: live.now().todos,
      warnings: parts.warnings,
      permissionDenials: parts.denials(),
    }),
    usage: meter.report,
    async setModel(name) {
      const model = name === undefined ? choice.model : resolveModel(name);
      live.change({ model });
      return { ok: true, model };
    },
    setEffort: (effort) => live.change({ effort }),
    setThinkingTokens: (thinkingTokens) => live.change({ thinkingTokens }),
    setMode(mode) {
      if (!isMode(mode)) return { ok: false, why: `There is no mode "${mode}". There are: ${MODES.join(', ')}.` };
      if (mode === 'bypassPermissions' && parts.skipPermissions === 'may not bypass') {
        return {
          ok: false,
          why: 'Switching permissions off needs the flag --dangerously-skip-permissions at the start.',
        };
      }
      live.change({ mode });
      return { ok: true, mode };
    },
    models: listModels,
    commands: () => [],
    runCommand: async (line) => ({ kind: 'failed', words: `There is no command /${line.split(' ')[0]}.` }),
    runShell: async () => undefined,
    findFiles: async () => [],
    expandPrompt: async (words) => words,
    contextUsage: async () => ({ model: live.now().model, totalTokens: 0, maxTokens: 0, categories: [], biggest: [] }),
    checkpoints: async () => [],
    rewind: async () => ({ ok: false, why: 'There is nothing to go back to.' }),
    rename: (title) => transcript.append({ type: 'title', title, by: 'person' }),
    background: () =>
      parts.loop.shells
        .list()
        .filter((shell) => shell.exit === undefined)
        .map(({ id, command, startedAtMs }) => ({ id, title: command, elapsedMs: Date.now() - startedAtMs })),
    moveToBackground: parts.loop.shells.moveToBackground,
    draft: { load: async () => undefined, save: () => undefined, clear: async () => undefined },
    history: { recent: async () => [], add: async () => undefined },
    async close() {
      agent.abort('shutdown');
      await agent.waitForIdle();
      await parts.loop.shells.closeAll();
      await transcript.close();
    },
  };
}
