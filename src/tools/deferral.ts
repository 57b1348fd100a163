import type { ToolSpec } from '../contracts/model.ts';
import type { Tool } from '../contracts/tool.ts';

/** Tools whose descriptions may wait: known by name, loaded when asked for. */
export type Deferral = {
  /** What a request carries: everything but what waits. */
  readonly toolSpecs: (offered: readonly Tool[]) => readonly ToolSpec[];
  /** What waits to be loaded. */
  readonly all: () => readonly Tool[];
  readonly load: (names: readonly string[]) => void;
};

export type DeferralParts = {
  readonly tools: () => readonly Tool[];
  readonly windowTokens: () => number;
  readonly tokensOf: (text: string) => number;
};

/** Descriptions may fill this part of the window before those of MCP servers have to wait. */
const SHARE_OF_WINDOW = 0.1;
const SEARCH = 'ToolSearch';

/** Sends tools of MCP servers by name only when all descriptions together are too much. */
export function createDeferral(parts: DeferralParts): Deferral {
  const loaded = new Set<string>();
  const sizes = new WeakMap<Tool, number>();

  function sizeOf(tool: Tool): number {
    const known = sizes.get(tool) ?? parts.tokensOf(JSON.stringify(tool.spec));
    sizes.set(tool, known);
    return known;
  }

  function mayWait(tools: readonly Tool[]): readonly Tool[] {
    const size = tools.reduce((sum, tool) => sum + sizeOf(tool), 0);
    if (size <= parts.windowTokens() * SHARE_OF_WINDOW) return tools.filter(({ deferred }) => deferred);
    return tools.filter(({ deferred, source }) => deferred || source === 'mcp');
  }

  return {
    toolSpecs(offered) {
      const waiting = mayWait(offered);
      return offered.flatMap((tool) => {
        // Its list holds the loaded ones too: a description that changes costs the whole prompt cache.
        if (tool.name === SEARCH) return waiting.length === 0 ? [] : [withNames(tool.spec, waiting)];
        return waiting.includes(tool) && !loaded.has(tool.name) ? [] : [tool.spec];
      });
    },
    all: () => mayWait(parts.tools()).filter(({ name }) => !loaded.has(name)),
    load(names) {
      for (const name of names) loaded.add(name);
    },
  };
}

function withNames(spec: ToolSpec, waiting: readonly Tool[]): ToolSpec {
  return { ...spec, description: `${spec.description}\nKnown by name: ${waiting.map(({ name }) => name).join(', ')}` };
}
