import { assembleAgent } from '../../../src/agent/agent.ts';
import type { AgentPort } from '../../../src/agent/agent-deps.ts';
import type { Conversation, ConversationInfo, UsageReport } from '../../../src/contracts/frontend/conversation.ts';
import type { HostControlPort } from '../../../src/contracts/frontend/host-capabilities.ts';
import type { PermissionRequest } from '../../../src/contracts/permission.ts';
import type { CallRequest, GateVerdict } from '../../../src/contracts/tool.ts';
import { INFO, type Overrides, type ScriptedReply, scripted } from './scripted.ts';

export type FakeOptions = {
  readonly replies?: readonly ScriptedReply[];
  readonly deps?: Overrides;
  /** Every call asks first. */
  readonly gate?: 'asks';
  readonly info?: Partial<ConversationInfo>;
  readonly more?: Partial<Omit<Conversation, 'control'>> & { readonly control?: Partial<HostControlPort> };
};

/** A conversation with the real agent and the real loop around a scripted model; the rest answers plainly. */
export function fakeConversation(options: FakeOptions = {}): Conversation & { readonly closedFor: () => string[] } {
  const base = scripted(options.replies ?? [], options.deps);
  const closedFor: string[] = [];
  let ids = 0;
  let model = 'model-a';
  const newId = () => {
    ids += 1;
    return `id${ids}`;
  };
  const agent = assembleAgent({
    sessionId: 'session-1',
    messages: [],
    listeners: [],
    deps: (port) => ({
      ...base,
      queues: port.queues,
      ask: port.ask,
      newId,
      ...(options.gate === 'asks' ? { gate: askingGate(port) } : {}),
    }),
    describe: () => ({ model, effort: 'off', mode: 'default', cwd: '/project' }),
    newId,
    now: () => 0,
  });
  return {
    agent,
    runSetupHooks: async () => [],
    info: () => ({ ...FACTS, model, sessionId: agent.sessionId, ...options.info }),
    usage: () => USAGE,
    setModel: async (name) => {
      if (name === 'nonsense') return { ok: false, problem: 'There is no model nonsense.' };
      model = name ?? 'model-a';
      return { ok: true, model };
    },
    setEffort: () => ({ ok: true }),
    setThinkingTokens: () => undefined,
    setMode: (mode) =>
      mode === 'plan' || mode === 'default'
        ? { ok: true, mode }
        : { ok: false, problem: `There is no mode "${mode}".` },
    models: async () => [INFO],
    commands: () => [],
    isKnownCommand: (name) => options.more?.commands?.().some((command) => command.name === name) === true,
    runCommand: async () => ({ kind: 'failed', message: 'no commands here' }),
    runShell: async () => undefined,
    findFiles: async () => [],
    expandPrompt: async (words) => words,
    contextUsage: async () => ({
      model,
      totalTokens: 50_000,
      maxTokens: 200_000,
      categories: [{ name: 'Messages', tokens: 50_000 }],
      biggest: [],
    }),
    checkpoints: async () => [],
    rewind: async () => ({ ok: false, problem: 'nothing to go back to' }),
    rename: async () => undefined,
    background: () => [],
    moveToBackground: () => false,
    draft: { load: async () => undefined, save: () => undefined, clear: async () => undefined },
    history: { listRecent: async () => [], add: async () => undefined },
    close: async (reason) => {
      closedFor.push(reason);
    },
    closedFor: () => closedFor,
    ...options.more,
    control: { ...control, ...options.more?.control },
  };
}

function askingGate(
  port: AgentPort,
): (request: CallRequest, hint: unknown, signal: AbortSignal) => Promise<GateVerdict> {
  return async (request, _hint, signal) => {
    const answer = await port.askPermission(questionAbout(request), signal);
    return answer.behavior === 'allow'
      ? { behavior: 'allow', input: answer.updatedInput ?? request.input }
      : { behavior: 'deny', message: answer.message ?? 'no', interrupt: answer.interrupt === true };
  };
}

/** A question about a call, as the gate would ask it. */
function questionAbout(
  request: Pick<CallRequest, 'callId' | 'tool' | 'title' | 'input'>,
  more: Partial<PermissionRequest> = {},
): PermissionRequest {
  return {
    id: `ask-${request.callId}`,
    callId: request.callId,
    toolName: request.tool,
    title: request.title,
    facts: { tool: request.tool, input: request.input, kind: 'shell' },
    reasons: ['no rule allows it'],
    targets: [],
    suggestions: [{ rule: `${request.tool}(echo *)`, covers: 'every echo' }],
    trace: [],
    danger: 'none',
    concealed: 'none',
    ...more,
  };
}

const FACTS: Omit<ConversationInfo, 'sessionId' | 'model'> = {
  title: undefined,
  transcriptPath: undefined,
  cwd: '/project',
  folder: '/project',
  home: '/home/me',
  defaultModel: 'claude-opus-4-5',
  earlierCostUsd: 0,
  gitBranch: undefined,
  modelInfo: INFO,
  effort: 'off',
  efforts: ['auto', 'off', 'low', 'medium', 'high', 'xhigh', 'max'],
  mode: 'default',
  tools: ['Echo'],
  mcpServers: [{ name: 'files', status: 'connected' }],
  agents: ['Explore'],
  skills: [],
  plugins: [],
  outputStyle: 'default',
  apiKeySource: 'none',
  version: '0.0.0',
  isDemo: false,
  trusted: true,
  contextTokens: 0,
  todos: [],
  warnings: [],
  permissionDenials: [],
  instructions: [],
  earlierWork: { turns: 0, added: 0, removed: 0 },
};

const unable = async () => ({ ok: false as const, problem: 'not here' });

const control: HostControlPort = {
  mcpServers: () => [{ name: 'files', status: 'connected' }],
  reconnectMcp: unable,
  toggleMcp: unable,
  setMcpServers: async () => ({ added: [], removed: [], errors: {} }),
  readMcpResource: async () => [],
  callTool: async () => '',
  listServedTools: () => [],
  callServedTool: async () => ({ end: 'refused', content: '' }),
  serve: async () => ({ url: undefined, closed: Promise.resolve() }),
  permissionRules: () => ({ rules: [], directories: [] }),
  updatePermissions: async () => ({ ok: true }),
  settings: () => ({ merged: {}, sources: [] }),
  updateSettings: unable,
  previewRewind: unable,
  stopTask: unable,
  reloadSkills: async () => undefined,
  readFile: unable,
  markAsRead: unable,
  agents: () => [{ name: 'Explore', description: '' }],
  outputStyles: () => ['default'],
  account: () => ({ apiKeySource: 'none' }),
};

const NO_TOKENS = { inputTokens: 10, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 };

const USAGE: UsageReport = {
  models: [
    {
      model: 'model-a',
      usage: NO_TOKENS,
      replies: 1,
      costUsd: 0.25,
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
    },
  ],
  total: NO_TOKENS,
  costUsd: 0.25,
  isComplete: true,
  apiMs: 0,
  elapsedMs: 9,
  lines: { added: 3, removed: 1 },
};
