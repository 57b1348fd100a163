import type { CallContext, PreparedCall, Tool, ToolOutcome } from '../../contracts/tool.ts';

/** Returns a tool whose calls are made by a function. Fields that a tool of an untyped application lacks are filled in. */
export function interceptCalls<Kind extends Tool>(
  tool: Kind,
  run: (call: PreparedCall, context: CallContext) => Promise<ToolOutcome>,
): Kind {
  return {
    ...tool,
    aliases: tool.aliases ?? [],
    label: tool.label ?? tool.name,
    // The copy would keep the first value of the getter.
    get spec() {
      return tool.spec;
    },
    prepare(input) {
      const prepared = tool.prepare(input);
      if (!prepared.ok) return prepared;
      return { ok: true, call: { ...prepared.call, call: (context) => run(prepared.call, context) } };
    },
  };
}
