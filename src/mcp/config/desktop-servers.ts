import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../lib/errors.ts';
import { readGiven } from '../../lib/files/read-regular.ts';

/** What the desktop program has configured, or why there is nothing to take over. */
export type DesktopServers =
  | {
      readonly ok: true;
      readonly file: string;
      readonly servers: readonly { readonly name: string; readonly entry: object }[];
    }
  | { readonly ok: false; readonly words: string };

const config = z.object({ mcpServers: z.record(z.string(), z.looseObject({})).default({}) });

/** Reads the MCP servers of Claude's desktop program where it keeps them on this system. */
export async function desktopServers(home: string, platform: NodeJS.Platform): Promise<DesktopServers> {
  const folder =
    platform === 'darwin'
      ? join(home, 'Library', 'Application Support', 'Claude')
      : join(home, platform === 'win32' ? 'AppData/Roaming/Claude' : '.config/Claude');
  const file = join(folder, 'claude_desktop_config.json');
  try {
    const text = await readGiven(file);
    if (text === undefined) return { ok: false, words: `There is no ${file}, so there is nothing to take over.` };
    const { mcpServers } = config.parse(JSON.parse(text));
    return { ok: true, file, servers: Object.entries(mcpServers).map(([name, entry]) => ({ name, entry })) };
  } catch (thrown) {
    return { ok: false, words: `${file} could not be read: ${messageOf(thrown)}` };
  }
}
