import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { createSdkMcpServer, type Options, query } from '@anthropic-ai/claude-agent-sdk';
import { expect, test } from 'vitest';
import { parseInvocation } from '../../../../src/cli/args/invocation.ts';
import { describeUnknownFields } from '../../../../src/cli/modes/sdk-host/initialize.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/contracts/json.ts';
import { getErrorMessage } from '../../../../src/lib/errors.ts';
import { membersOfSdkType } from '../../../support/sdk-declarations.ts';
import { conversation } from '../../../support/sdk-host.ts';

/** What the program gets of an option. `host`: nothing, the SDK does it by itself. */
type Row = { readonly given: Options; readonly is: 'taken' | 'host' | 'refused' | 'told'; readonly more?: Options };

const taken = (given: Options, more: Options = {}): Row => ({ given, is: 'taken', more });
const host = (given: Options, more: Options = {}): Row => ({ given, is: 'host', more });
const refused = (given: Options, more: Options = {}): Row => ({ given, is: 'refused', more });
const reported = (given: Options, more: Options = {}): Row => ({ given, is: 'told', more });

const PLUGINS: Options = { plugins: [{ type: 'local', path: '/p' }] };
const SERVERS: Options = { mcpServers: { notes: { command: 'notes' } } };
const ID = '2b1f6a3e-6a4e-4a6c-9f39-0d6f5f2f3a11';
const store = { append: async () => undefined, load: async () => null };

/** Every field of the options, with a value that means something. A new one has to be decided about here. */
const OPTIONS: Readonly<Record<string, Row>> = {
  abortController: host({ abortController: new AbortController() }),
  additionalDirectories: taken({ additionalDirectories: ['/tmp'] }),
  agent: taken({ agent: 'pirate' }),
  agentProgressSummaries: reported({ agentProgressSummaries: true }),
  agents: taken({ agents: { pirate: { description: 'says arr', prompt: 'arr' } } }),
  allowDangerouslySkipPermissions: taken({ allowDangerouslySkipPermissions: true }),
  allowedTools: taken({ allowedTools: ['Read'] }),
  betas: taken({ betas: ['context-1m-2025-08-07'] }),
  canUseTool: taken({ canUseTool: async () => ({ behavior: 'deny', message: '' }) }),
  continue: taken({ continue: true }),
  cwd: host({ cwd: '/tmp' }),
  debug: taken({ debug: true }),
  debugFile: taken({ debugFile: '/tmp/log' }),
  disallowedTools: taken({ disallowedTools: ['Bash'] }),
  effort: taken({ effort: 'high' }),
  // Checkpoints are kept in any case.
  enableFileCheckpointing: host({ enableFileCheckpointing: true }),
  env: host({ env: {} }),
  executable: host({ executable: 'node' }),
  executableArgs: host({ executableArgs: [] }),
  extraArgs: taken({ extraArgs: { trust: null } }),
  fallbackModel: taken({ fallbackModel: 'haiku' }),
  forkSession: taken({ forkSession: true }, { resume: ID }),
  forwardSubagentText: taken({ forwardSubagentText: true }),
  hooks: taken({ hooks: { Stop: [{ hooks: [async () => ({})] }] } }),
  includeHookEvents: taken({ includeHookEvents: true }),
  includePartialMessages: taken({ includePartialMessages: true }),
  loadTimeoutMs: host({ loadTimeoutMs: 1 }),
  managedSettings: taken({ managedSettings: { permissions: { deny: ['Bash'] } } }),
  maxBudgetUsd: taken({ maxBudgetUsd: 1 }),
  maxThinkingTokens: taken({ maxThinkingTokens: 2000 }),
  maxTurns: taken({ maxTurns: 1 }),
  mcpServers: taken({ mcpServers: { notes: createSdkMcpServer({ name: 'notes' }) } }),
  mcpServersDelivery: taken({ mcpServersDelivery: 'initialize' }, SERVERS),
  model: taken({ model: 'opus' }),
  // Whoever lives in the host is asked in any case.
  onElicitation: host({ onElicitation: async () => ({ action: 'decline' }) }),
  onUserDialog: host({ onUserDialog: async () => ({ behavior: 'cancelled' }) }),
  outputFormat: taken({ outputFormat: { type: 'json_schema', schema: { type: 'object' } } }),
  pathToClaudeCodeExecutable: host({}),
  perTaskStopAffordance: taken({ perTaskStopAffordance: true }),
  permissionMode: taken({ permissionMode: 'auto' }),
  permissionPromptToolName: taken({ permissionPromptToolName: 'mcp__notes__allow' }),
  permissionPrompts: taken({ permissionPrompts: 'none' }),
  persistSession: taken({ persistSession: false }),
  planModeInstructions: taken({ planModeInstructions: 'Ask first.' }),
  pluginDelivery: taken({ pluginDelivery: 'initialize' }, PLUGINS),
  plugins: taken(PLUGINS),
  projectConfigRoot: refused({ projectConfigRoot: '/elsewhere' }),
  promptSuggestions: taken({ promptSuggestions: true }),
  resume: taken({ resume: ID }),
  resumeDropsTurn: refused({ resumeDropsTurn: ID }, { resume: ID, resumeSessionAt: ID }),
  resumeSessionAt: taken({ resumeSessionAt: ID }, { resume: ID }),
  sandbox: taken({ sandbox: { enabled: true } }),
  sessionId: taken({ sessionId: ID }),
  sessionStore: refused({ sessionStore: store }),
  sessionStoreFlush: host({ sessionStoreFlush: 'eager' }),
  settingSources: taken({ settingSources: [] }),
  settings: taken({ settings: { model: 'opus' } }),
  skills: taken({ skills: [] }),
  spawnClaudeCodeProcess: host({}),
  stderr: host({ stderr: () => undefined }),
  strictMcpConfig: taken({ strictMcpConfig: true }),
  supportedDialogKinds: taken(
    { supportedDialogKinds: ['x'] },
    { onUserDialog: async () => ({ behavior: 'cancelled' }) },
  ),
  systemPrompt: taken({ systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Be kind.' } }),
  taskBudget: reported({ taskBudget: { total: 1000 } }),
  thinking: taken({ thinking: { type: 'adaptive' } }),
  title: taken({ title: 'Tidy up' }),
  toolAliases: taken({ toolAliases: { Bash: 'mcp__notes__bash' } }),
  // Questions have no previews here, in whatever format.
  toolConfig: host({ toolConfig: { askUserQuestion: { previewFormat: 'html' } } }),
  tools: taken({ tools: [] }),
  // Said with each message.
  verbatimPrompts: host({ verbatimPrompts: true }),
};

test('every option of the SDK is covered by a decision', () => {
  expect(Object.keys(OPTIONS).toSorted()).toEqual(membersOfSdkType('Options'));
});

test.each(Object.entries(OPTIONS))(
  'what the SDK sends for %s is accepted, reported or refused as decided',
  async (_, row) => {
    const bare = await sentFor(row.more ?? {});
    const sent = await sentFor({ ...row.more, ...row.given });
    const isSilent = JSON.stringify(sent) === JSON.stringify(bare);
    expect(isSilent ? 'host' : await judged(sent)).toBe(row.is);
  },
);

type Sent = { readonly args: readonly string[]; readonly initialize: JsonObject };

async function judged({ args, initialize }: Sent): Promise<Row['is']> {
  try {
    const { warnings } = await parseInvocation(args, { cwd: '/tmp', hasTerminal: false });
    const isUnheard = warnings.some((text) => text.startsWith('Ignoring unknown option'));
    return isUnheard || describeUnknownFields(initialize) !== undefined ? 'told' : 'taken';
  } catch (thrown) {
    expect(getErrorMessage(thrown)).toMatch(/^Option --[\w-]+: .{20,}\.$/);
    return 'refused';
  }
}

/** The command line and the first request of the SDK, taken down by somebody who never answers. */
async function sentFor(options: Options): Promise<Sent> {
  const begun = Promise.withResolvers<Sent>();
  const abortController = options.abortController ?? new AbortController();
  const running = query({
    prompt: conversation().prompts,
    options: {
      ...options,
      abortController,
      pathToClaudeCodeExecutable: process.execPath,
      spawnClaudeCodeProcess({ args }) {
        const stdin = new PassThrough();
        stdin.setEncoding('utf8').once('data', (text: string) => begun.resolve({ args, initialize: requestOf(text) }));
        const kill = () => true;
        return Object.assign(new EventEmitter(), {
          stdin,
          stdout: new PassThrough(),
          killed: false,
          exitCode: null,
          kill,
        });
      },
    },
  });
  running.initializationResult().catch(() => undefined);
  const sent = await begun.promise;
  running.close();
  return sent;
}

function requestOf(text: string): JsonObject {
  const line: JsonValue = JSON.parse(text.split('\n')[0] ?? '');
  const request = isJsonObject(line) ? line.request : undefined;
  if (!isJsonObject(request)) throw new Error(`The SDK began with ${text}`);
  return request;
}
