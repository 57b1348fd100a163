import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { TrustEffect } from '../contracts/face/trust.ts';
import { ifThere } from '../lib/files/errno.ts';
import { readGiven } from '../lib/files/read-regular.ts';
import { formatBytes } from '../lib/text/format.ts';
import { serverWords } from './powers.ts';

const server = z.object({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  url: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  oauth: z.record(z.string(), z.unknown()).optional(),
});
const servers = z.object({ mcpServers: z.record(z.string(), z.unknown()) }).catch({ mcpServers: {} });

const FOLDERS = ['commands', 'skills', 'agents', 'rules', 'output-styles'];

/** What else of a folder would be read or started once it is trusted, besides its settings. */
export async function instructionEffects(dir: string): Promise<readonly TrustEffect[]> {
  const [memory, folders, mcp] = await Promise.all([
    Promise.all(['CLAUDE.md', 'AGENTS.md', 'CLAUDE.local.md'].map((name) => memoryEffect(join(dir, name), name))),
    Promise.all(FOLDERS.map((name) => folderEffect(join(dir, '.claude', name), name))),
    serverEffects(join(dir, '.mcp.json')),
  ]);
  return [...mcp, ...memory.flat(), ...folders.flat()];
}

async function memoryEffect(file: string, name: string): Promise<readonly TrustEffect[]> {
  const entry = await ifThere(stat(file));
  return entry?.isFile() === true
    ? [{ kind: 'instructions', text: `${name} (${formatBytes(entry.size)}) is read to the model`, file }]
    : [];
}

async function folderEffect(folder: string, name: string): Promise<readonly TrustEffect[]> {
  const names = await readdir(folder).catch(() => []);
  return names.length === 0
    ? []
    : [
        {
          kind: 'instructions',
          text: `${name}: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ' …' : ''}`,
          file: folder,
        },
      ];
}

async function serverEffects(file: string): Promise<readonly TrustEffect[]> {
  const text = await readGiven(file).catch(() => undefined);
  const found = servers.parse(parsed(text ?? '{}'));
  return Object.entries(found.mcpServers).map(([name, entry]) => {
    const read = server.safeParse(entry);
    const words = read.success ? serverWords(read.data) : JSON.stringify(entry);
    return { kind: 'server', text: `${name}: ${words} (asks once more before it starts)`, file };
  });
}

/** Brackets without end are more than the parser can go down: such a file names nothing. */
function parsed(text: string): unknown {
  try {
    return parse(text, [], { allowTrailingComma: true });
  } catch {
    return {};
  }
}
