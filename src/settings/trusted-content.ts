import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { TrustEffect } from '../contracts/frontend/trust.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { readFileOrPipe } from '../lib/files/read-regular-file.ts';
import { formatBytes } from '../lib/text/format.ts';
import { describeMcpServerGrants } from './settings-needing-approval.ts';

const serverSchema = z.lazy(() =>
  z.object({
    command: z.string().optional(),
    args: z.array(z.string()).optional(),
    url: z.string().optional(),
    env: z.record(z.string(), z.string()).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    oauth: z.record(z.string(), z.unknown()).optional(),
  }),
);
const serversSchema = z.lazy(() =>
  z.object({ mcpServers: z.record(z.string(), z.unknown()) }).catch({ mcpServers: {} }),
);

const MEMORY_FILES = ['CLAUDE.md', 'AGENTS.md', 'CLAUDE.local.md', '.claude/CLAUDE.md', '.claude/AGENTS.md'];
const EXTENSION_FOLDERS = ['commands', 'skills', 'agents', 'rules', 'output-styles'];

/** Lists what trusting a folder would load or start besides its settings: instructions, extensions and MCP servers. */
export async function listTrustedContent(dir: string): Promise<readonly TrustEffect[]> {
  const [memory, folders, mcp] = await Promise.all([
    Promise.all(MEMORY_FILES.map((name) => describeMemoryFile(join(dir, name), name))),
    Promise.all(EXTENSION_FOLDERS.map((name) => describeFolder(join(dir, '.claude', name), name))),
    describeServers(join(dir, '.mcp.json')),
  ]);
  return [...mcp, ...memory.flat(), ...folders.flat()];
}

async function describeMemoryFile(file: string, name: string): Promise<readonly TrustEffect[]> {
  const entry = await ignoreMissingFile(stat(file));
  if (entry?.isFile() !== true) return [];
  const label = `${name} (${formatBytes(entry.size)})`;
  return [{ kind: 'instructions', text: `${label} is sent to the model`, label, file }];
}

async function describeFolder(folder: string, name: string): Promise<readonly TrustEffect[]> {
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

async function describeServers(file: string): Promise<readonly TrustEffect[]> {
  const text = await readFileOrPipe(file).catch(() => undefined);
  const found = serversSchema.parse(parseJson(text ?? '{}'));
  return Object.entries(found.mcpServers).map(([name, entry]) => {
    const parsed = serverSchema.safeParse(entry);
    const description = parsed.success ? describeMcpServerGrants(parsed.data) : JSON.stringify(entry);
    return { kind: 'server', text: `${name}: ${description} (asks again before it starts)`, file };
  });
}

/** Parses a file; the parser throws on extremely deep nesting, and such a file is treated as empty. */
function parseJson(text: string): unknown {
  try {
    return parse(text, [], { allowTrailingComma: true });
  } catch {
    return {};
  }
}
