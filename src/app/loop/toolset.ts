import type { RunOptions } from '../../contracts/face/run-options.ts';
import { CHARS_PER_TOKEN, type ModelInfo, type ToolSpec } from '../../contracts/model.ts';
import type { Rule } from '../../contracts/permission.ts';
import type { Tool } from '../../contracts/tool.ts';
import { withOwn } from '../../extensions/tools-of-agent.ts';
import { nearest } from '../../lib/text/nearest.ts';
import { namesTool } from '../../permissions/tool-findings.ts';
import { repeatSpecs } from '../../session/request-head.ts';
import { createDeferral } from '../../tools/deferral.ts';
import { lspStatement } from '../../tools/lsp/lsp.ts';
import { createReadState, type ReadState } from '../../tools/read-state.ts';
import { skillStatement } from '../../tools/skill/skill.ts';
import { createSpecOrder } from '../../tools/spec-order.ts';
import { structuredOutputStatement } from '../../tools/structured-output/structured-output.ts';
import { createToolSearchTool } from '../../tools/tool-search/tool-search.ts';
import { webSearchStatement } from '../../tools/web-search/web-search.ts';
import type { Core } from '../core.ts';
import type { McpServers } from '../mcp/servers.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { SessionLanguages } from '../session/languages.ts';
import type { Session } from '../session/session.ts';
import { builtInTools, fileTools, type ToolNeeds } from './built-in-tools.ts';

/** The tools of a conversation. */
export type Toolset = {
  /** What the model has read of files. */
  readonly readState: ReadState;
  /** Tools that can only be made once others are there. */
  add(tools: readonly Tool[]): void;
  /** Ours, whatever was asked for and is allowed. */
  builtIn(): readonly Tool[];
  /** All that were asked for and are not denied as a whole, in an order that never changes. */
  all(): readonly Tool[];
  /** The same, without what the model's provider cannot do. */
  offered(): readonly Tool[];
  /** Those of a sub-agent: what they know of files is its own, and it may have more. */
  forAgent(reads: ReadState, more: readonly Tool[]): readonly Tool[];
  /** What is sent of tools: the same words in the same places as before, and the rest when it is asked for. */
  specs(tools: readonly Tool[]): readonly ToolSpec[];
};

type Needs = ToolNeeds & {
  readonly session: Pick<Session, 'transcript' | 'ledger' | 'sentBefore'>;
  readonly permissions: Permissions;
  readonly mcp: Pick<McpServers, 'tools'>;
  readonly languages: SessionLanguages;
};

export function createToolset(core: Core, needs: Needs): Toolset {
  const { options, live, model } = core;
  const readState = createReadState();
  const builtIn = [...builtInTools(core, needs, readState)];
  const modelInfo = () => model.infoOf(live.now().model);
  const watch = needs.checkpoints?.watch ?? ((tools: readonly Tool[]) => tools);
  const allowed = (tools: readonly Tool[]) => offerTools(watch(tools), options, needs.permissions.rules());
  const all = () => allowed([...builtIn, ...needs.mcp.tools()]);
  /** Tools for what is not here are none. */
  const isFor = ({ name }: Tool) =>
    name === skillStatement.name
      ? core.extensions.now().skills.length > 0
      : name !== lspStatement.name || needs.languages.hasAny();
  const offered = () => fittingTools(all(), modelInfo()).filter(isFor);
  const deferral = createDeferral({
    tools: offered,
    windowTokens: () => modelInfo().contextWindow,
    tokensOf: (text) => Math.ceil(text.length / CHARS_PER_TOKEN),
  });
  const sentBefore = needs.session.sentBefore?.tools ?? [];
  deferral.load(sentBefore.map(({ name }) => name));
  const inOrder = createSpecOrder(sentBefore);
  builtIn.push(createToolSearchTool(deferral));
  return {
    readState,
    add: (tools) => void builtIn.push(...tools),
    builtIn: () => builtIn,
    all,
    offered,
    forAgent: (reads, more) => withOwn([...offered(), ...allowed(more)], fileTools(core, needs, reads)),
    specs: (tools) => inOrder(repeatSpecs(deferral.toolSpecs(tools), sentBefore)),
  };
}

function offerTools(tools: readonly Tool[], options: RunOptions, rules: readonly Rule[]): readonly Tool[] {
  const denying = rules.filter(
    ({ behavior, specifier, problem }) => behavior === 'deny' && specifier === undefined && problem === undefined,
  );
  const isWanted = ({ name, aliases }: Tool) =>
    options.tools === undefined ||
    name === structuredOutputStatement.name ||
    [name, ...aliases].some((one) => options.tools?.includes(one) === true);
  return tools
    .filter((tool) => isWanted(tool) && !denying.some((rule) => namesTool(rule, tool.name)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function fittingTools(tools: readonly Tool[], { webSearch }: ModelInfo): readonly Tool[] {
  return webSearch ? tools : tools.filter(({ name }) => name !== webSearchStatement.name);
}

/** A sentence for each name that no tool has. Tools of MCP servers are only known once those are connected. */
export function strayTools({ tools: wanted = [] }: RunOptions, tools: readonly Tool[]): readonly string[] {
  const known = tools.flatMap(({ name, aliases }) => [name, ...aliases]);
  return wanted
    .filter((name) => name !== 'default' && !known.includes(name) && !name.startsWith('mcp__'))
    .map((name) => {
      const meant = nearest(name, known);
      return `There is no tool ${name}, so --tools cannot offer it.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
    });
}
