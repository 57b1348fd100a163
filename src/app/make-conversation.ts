import { usageBreakdown } from '../context/report/usage-breakdown.ts';
import type { ContextUsage, Conversation, ConversationInfo } from '../contracts/face/conversation.ts';
import type { Effort } from '../contracts/model.ts';
import { isMode, MODES } from '../contracts/permission.ts';
import { headBranch } from '../git/head-branch.ts';
import { repositoryRoot } from '../git/repository-root.ts';
import { listModels, resolveModel } from '../model/catalog.ts';
import { expandPrompt } from '../prompt/expand-prompt.ts';
import { cleanUp } from '../session/clean-up.ts';
import { childVariables } from '../settings/child-variables.ts';
import { screenSettings } from '../settings/screen-settings.ts';
import { createShellLines } from '../tools/bash/shell-lines.ts';
import { createFindFiles } from '../tools/find-files.ts';
import { proposeEdit } from '../tools/propose-edit.ts';
import type { ConversationBase, ConversationParts } from './conversation-parts.ts';
import { askAside } from './loop/ask-aside.ts';
import { createManualCompact } from './loop/manual-compact.ts';
import { warnOfRecache } from './loop/recache.ts';
import { mayReadUnasked } from './permissions/read-for-host.ts';
import { makeRewind } from './session/rewind.ts';
import { sessionPicker } from './session/session-picker.ts';
import { wireControl } from './slash/host-control.ts';
import { listCommands, runCommand } from './slash/run-command.ts';

/** What hooks have left when a conversation ends. */
const HOOKS_AT_END_MS = 1_200;

/** One object for every face. */
export function makeConversation(base: ConversationBase): Conversation {
  const { agent, live, meter, transcript, choice, loop } = base;

  const recaching = { meter, infoOf: choice.infoOf, tell: base.tell };
  const aside = askAside(base);

  function setEffort(effort: Effort): void {
    const now = live.now();
    if (effort !== now.effort) warnOfRecache(`Another effort (${effort})`, now.model, recaching);
    loop.observer.expect(`The effort changed to ${effort}.`);
    live.change({ effort, thinkingTokens: undefined });
  }

  async function setModel(name: string | undefined): ReturnType<Conversation['setModel']> {
    const model = name === undefined ? choice.model : resolveModel(name);
    if (model.trim() === '') return { ok: false, why: 'Say which model.' };
    if (model !== live.now().model) warnOfRecache(`Switching to ${model}`, model, recaching);
    loop.observer.expect(`The model changed to ${model}.`);
    live.change({ model });
    return { ok: true, model };
  }

  async function contextUsage(): Promise<ContextUsage> {
    const { model } = live.now();
    const prepared = await loop.context.prepare(agent.state().messages);
    await loop.ready();
    return usageBreakdown({
      model,
      windowTokens: choice.infoOf(model).contextWindow,
      compactAt: loop.context.limits(model).compactAt,
      system: loop.prompt.system.parts(),
      tools: loop.tools().map(({ spec, source }) => ({ spec, source })),
      view: prepared.view,
      knownTokens: meter.contextTokens() === 0 ? undefined : meter.contextTokens(),
    });
  }

  const rewinding = makeRewind({
    ...base,
    forget: (why) => {
      loop.readState.forgetShown();
      loop.observer.expect(why);
    },
  });
  const branch = async () => (base.trusted ? headBranch(repositoryRoot(base.cwd)) : undefined);
  const stored = sessionPicker(base.environment, base.cwd, agent.sessionId, branch);
  const parts: ConversationParts = {
    ...base,
    contextUsage,
    setModel,
    undo: rewinding.undo,
    redo: rewinding.redo,
    compact: createManualCompact({ ...base, context: loop.context }),
    setEffort,
    askAside: aside,
  };
  const findFiles = createFindFiles(loop.locator, base.cwd, Date.now);
  const runShell = createShellLines({
    ...base,
    bash: () => loop.tools().find((tool) => tool.name === 'Bash'),
    cwd: () => live.now().cwd,
  });

  return {
    agent,
    ready: base.mcp.ready,
    // In a folder that is only read, nothing runs before something is said.
    ...(base.trusted ? { begin: base.opening.begin } : {}),
    info: () => infoOf(parts),
    usage: meter.report,
    setModel,
    setEffort,
    setThinkingTokens: (thinkingTokens) => live.change({ thinkingTokens }),
    setMode(mode) {
      if (!isMode(mode)) return { ok: false, why: `There is no mode "${mode}". There are: ${MODES.join(', ')}.` };
      if (mode === 'bypassPermissions' && base.skipPermissions === 'may not bypass') {
        return {
          ok: false,
          why: 'Switching permissions off needs the flag --dangerously-skip-permissions at the start.',
        };
      }
      live.change({ mode });
      return { ok: true, mode };
    },
    models: listModels,
    commands: () => listCommands(parts),
    runCommand: (line) => runCommand(line, parts),
    runShell,
    findFiles,
    expandPrompt: (words, images = []) =>
      expandPrompt(words, images, {
        cwd: live.now().cwd,
        home: base.environment.home,
        readResource: base.mcp.mentioned,
        mayRead: (path) => mayReadUnasked(path, { permissions: base.permissions, cwd: live.now().cwd }),
      }),
    proposal: (facts) => proposeEdit(facts, { cwd: live.now().cwd, home: base.environment.home }),
    contextUsage,
    sessions: () => stored.list('folder'),
    storedSessions: stored,
    checkpoints: rewinding.checkpoints,
    rewind: rewinding.rewind,
    rename: async (title) => {
      live.change({ title });
      await transcript.append({ type: 'title', title, by: 'person' });
    },
    background: () =>
      [
        ...loop.shells
          .list()
          .flatMap(({ exit, command, ...shell }) => (exit === undefined ? [{ ...shell, title: command }] : [])),
        ...loop.subagents.running(),
      ].map(({ id, title, startedAtMs }) => ({ id, title, elapsedMs: Date.now() - startedAtMs })),
    moveToBackground: loop.shells.moveToBackground,
    killStopping: loop.shells.killStopping,
    control: wireControl(parts),
    ...screenOf(parts),
    draft: base.kept.draft,
    history: base.kept.history,
    async close(reason) {
      agent.abort('shutdown');
      loop.stopBackground();
      await agent.waitForIdle();
      const limit = AbortSignal.timeout(HOOKS_AT_END_MS);
      await Promise.all([
        base.hooks.fire('SessionEnd', { reason }, limit),
        base.hooks.close(limit),
        base.opening.close(),
        loop.shells.closeAll(),
        base.mcp.hub.close(),
      ]);
      base.permissions.sandbox.close();
      await base.checkpoints?.close();
      await transcript.close();
      const { ouroHome } = base.environment;
      // What cannot be deleted today can be tomorrow.
      await cleanUp(base.loaded().merged, ouroHome, Date.now()).catch(() => undefined);
      base.started.close();
    },
  };
}

function infoOf({
  agent,
  live,
  choice,
  transcript,
  environment,
  loop,
  extensions,
  meter,
  ...parts
}: ConversationParts): ConversationInfo {
  const { model, cwd, effort, mode, outputStyle, title, todos } = live.now();
  return {
    sessionId: agent.sessionId,
    title,
    transcriptPath: transcript.path,
    cwd,
    gitBranch: parts.branch,
    model,
    modelInfo: choice.infoOf(model),
    effort,
    mode,
    tools: loop.tools().map((tool) => tool.name),
    mcpServers: parts.mcp.hub
      .states()
      .map(({ name, status, error }) => ({ name, status, ...(error === undefined ? {} : { error }) })),
    agents: extensions().agents.map(({ name }) => name),
    skills: extensions().skills.map(({ name }) => name),
    outputStyle,
    apiKeySource: choice.keySource,
    version: environment.version,
    isDemo: choice.provider === 'demo',
    trusted: parts.trusted,
    contextTokens: meter.contextTokens(),
    todos,
    warnings: parts.warnings,
    permissionDenials: parts.permissions.denials(),
  };
}

/** What a screen may know and keep. */
function screenOf({ environment, loaded, live, meter, choice, agent, branch }: ConversationParts) {
  return screenSettings({
    ouroHome: environment.ouroHome,
    settings: () => loaded().merged,
    variables: () => childVariables(environment, loaded().merged),
    cwd: () => live.now().cwd,
    facts: () => {
      const { model, mode, cwd, title } = live.now();
      return {
        session_id: agent.sessionId,
        cwd,
        model: { id: model },
        permission_mode: mode,
        title: title ?? '',
        git_branch: branch ?? '',
        context_tokens: meter.contextTokens(),
        context_window: choice.infoOf(model).contextWindow,
        cost_usd: meter.report().costUsd,
      };
    },
  });
}
