import { join } from 'node:path';
import { z } from 'zod';
import { openJsonStore } from '../../lib/files/json-store.ts';
import type { McpServerApproval } from './resolve-config.ts';

const approval = z.object({ hash: z.string(), verdict: z.enum(['approved', 'rejected']) });
const schema = z.record(z.string(), z.record(z.string(), approval));

/** Opens the user's approvals of the MCP servers of one folder; stored in ouro's home, never in the folder itself. */
export function openMcpServerApprovals(ouroHome: string, realDir: string) {
  const file = join(ouroHome, 'mcp-approvals.json');
  // An unreadable entry approves nothing: the user is asked about that server again.
  const store = openJsonStore(file, { empty: {}, entryDepth: 2, parse: (json) => schema.safeParse(json) });
  return {
    async read(): Promise<{
      readonly approvals: Readonly<Record<string, McpServerApproval>>;
      readonly problem?: string;
    }> {
      const { value, isRefused: _, ...result } = await store.read();
      return { approvals: (Object.hasOwn(value, realDir) ? value[realDir] : undefined) ?? {}, ...result };
    },
    /** Stores a verdict; returns a message when a damaged file was quarantined. */
    save: (name: string, value: McpServerApproval) => store.change(() => [{ path: [realDir, name], value }]),
  };
}
