import { join } from 'node:path';
import { z } from 'zod';
import { openJsonStore } from '../../lib/files/json-store.ts';
import type { Approval } from './config.ts';

const approval = z.object({ hash: z.string(), verdict: z.enum(['approved', 'rejected']) });
const schema = z.record(z.string(), z.record(z.string(), approval));

/** What the person said about the MCP servers of one folder. It is kept in their own home, never in the folder. */
export function openApprovals(ouroHome: string, realDir: string) {
  const file = join(ouroHome, 'mcp-approvals.json');
  // Nothing is approved by an entry that cannot be read: that server is asked about again.
  const store = openJsonStore(file, { empty: {}, entryDepth: 2, parse: (json) => schema.safeParse(json) });
  return {
    async read(): Promise<{ readonly approvals: Readonly<Record<string, Approval>>; readonly problem?: string }> {
      const { value, isRefused: _, ...told } = await store.read();
      return { approvals: (Object.hasOwn(value, realDir) ? value[realDir] : undefined) ?? {}, ...told };
    },
    /** Answers with a sentence when a damaged file was set aside. */
    keep: (name: string, value: Approval) => store.change(() => [{ path: [realDir, name], value }]),
  };
}
