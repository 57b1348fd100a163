import type { ToolSpec } from '../contracts/model.ts';
import type { Tool } from '../contracts/tool.ts';
import { memoizeByKey, memoizeByObject } from '../lib/memoize.ts';

/** Dependencies of `createDeferredSpecs`. */
type DeferredSpecsDeps = {
  readonly listTools: () => readonly Tool[];
  readonly windowTokens: () => number;
  readonly countTokens: (text: string) => number;
};

/** Tokens that the descriptions of MCP tools may take before they are deferred; a share of a small window. */
const MAX_MCP_TOKENS = 20_000;
const MAX_WINDOW_SHARE = 0.1;
const TOOL_SEARCH = 'ToolSearch';

/** Creates the deferral of rare tools and large MCP tool lists to their names, which ToolSearch loads. */
export function createDeferredSpecs(deps: DeferredSpecsDeps) {
  const loaded = new Set<string>();
  const countTokens = memoizeByObject((tool: Tool) => deps.countTokens(JSON.stringify(tool.spec)));
  const groupTools = memoizeByObject((tools: readonly Tool[]) => {
    // Without ToolSearch nothing could be loaded.
    const canLoad = tools.some(({ name }) => name === TOOL_SEARCH);
    return {
      mcpTokens: tools.reduce((sum, tool) => sum + (tool.source === 'mcp' ? countTokens(tool) : 0), 0),
      rare: tools.filter(({ deferred }) => canLoad && deferred),
      rareAndMcp: tools.filter(({ deferred, source }) => canLoad && (deferred || source === 'mcp')),
    };
  });

  function listDeferred(tools: readonly Tool[]): readonly Tool[] {
    const { mcpTokens, rare, rareAndMcp } = groupTools(tools);
    return mcpTokens > Math.min(MAX_MCP_TOKENS, deps.windowTokens() * MAX_WINDOW_SHARE) ? rareAndMcp : rare;
  }

  return {
    /** Returns the specs for a request, without deferred tools. */
    selectSpecs(offered: readonly Tool[]): readonly ToolSpec[] {
      const deferred = listDeferred(offered);
      return offered.flatMap((tool) => {
        if (tool.isHidden === true) return [];
        // The list keeps loaded tools: a changed description would invalidate the prompt cache.
        if (tool.name === TOOL_SEARCH)
          return deferred.length === 0 ? [] : [appendNames(tool.spec)(deferred.map(({ name }) => name).join(', '))];
        return deferred.includes(tool) && !loaded.has(tool.name) ? [] : [tool.spec];
      });
    },
    /** Returns the deferred tools that are not loaded. */
    listUnloaded: (): readonly Tool[] => listDeferred(deps.listTools()).filter(({ name }) => !loaded.has(name)),
    load(names: readonly string[]) {
      for (const name of names) loaded.add(name);
    },
  };
}

/** Memoized, because a spec is measured and serialized once for each object. */
const appendNames = memoizeByObject((spec: ToolSpec) =>
  memoizeByKey((names): ToolSpec => ({ ...spec, description: `${spec.description}\nKnown by name: ${names}` })),
);

/** Creates a sort function that keeps tools in the order they were first sent, so that the prompt cache stays valid. */
export function createSpecSorter(
  previousSpecs: readonly ToolSpec[],
): (specs: readonly ToolSpec[]) => readonly ToolSpec[] {
  let order = previousSpecs.map(({ name }) => name);
  return (specs) => {
    const positions = new Map(order.map((name, at) => [name, at]));
    const newNames = specs.map(({ name }) => name).filter((name) => !positions.has(name));
    for (const name of newNames) positions.set(name, positions.size);
    order = [...order, ...newNames];
    return specs.toSorted((a, b) => (positions.get(a.name) ?? 0) - (positions.get(b.name) ?? 0));
  };
}
