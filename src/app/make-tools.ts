import type { Tool } from '../contracts/tool.ts';
import { createEditTool } from '../tools/edit/edit.ts';
import { createMultiEditTool } from '../tools/multi-edit/multi-edit.ts';
import { createReadTool } from '../tools/read/read.ts';
import { createReadState } from '../tools/read-state.ts';
import { createWriteTool } from '../tools/write/write.ts';

export type ToolBox = { readonly tools: readonly Tool[]; readonly readState: ReturnType<typeof createReadState> };

/** Every built-in tool, each with the parts it wants. */
export function makeTools(parts: {
  readonly home: string;
  readonly beforeChange?: (realPath: string) => Promise<void>;
}): ToolBox {
  const readState = createReadState();
  const change = { readState, home: parts.home, ...(parts.beforeChange && { beforeChange: parts.beforeChange }) };
  return {
    readState,
    tools: [createReadTool(change), createWriteTool(change), createEditTool(change), createMultiEditTool(change)],
  };
}
