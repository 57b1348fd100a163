import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ifThere } from '../../lib/files/errno.ts';
import { writePrivately } from '../../lib/files/private-file.ts';
import type { Approval } from './config.ts';

const schema = z.record(
  z.string(),
  z.record(z.string(), z.object({ hash: z.string(), verdict: z.enum(['approved', 'rejected']) })),
);

/** What the person said about the MCP servers of one folder. It is kept in their own home, never in the folder. */
export function openApprovals(ouroHome: string, realDir: string) {
  const file = join(ouroHome, 'mcp-approvals.json');

  async function all(): Promise<z.output<typeof schema>> {
    const text = await ifThere(readFile(file, 'utf8'));
    try {
      return text === undefined ? {} : schema.parse(JSON.parse(text));
    } catch {
      // Nothing is approved by a file that cannot be read: everything is asked again.
      return {};
    }
  }

  return {
    of: async (): Promise<Readonly<Record<string, Approval>>> => (await all())[realDir] ?? {},
    async keep(name: string, approval: Approval): Promise<void> {
      const known = await all();
      const changed = { ...known, [realDir]: { ...known[realDir], [name]: approval } };
      await writePrivately(file, `${JSON.stringify(changed, null, 2)}\n`);
    },
  };
}
