import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import { getErrorMessage } from '../../lib/errors.ts';
import { editJsonc } from '../../lib/files/edit-jsonc.ts';
import { createFileLocks } from '../../lib/files/file-locks.ts';
import { readFileOrPipe, readRegularFile } from '../../lib/files/read-regular-file.ts';
import { editSettingsFile, getSettingsPath } from '../../settings/edit-settings.ts';
import { PROJECT_MCP_FILE } from './resolve-config.ts';

const MCP_SCOPES = ['user', 'project', 'local'] as const;
/** A configuration file that `ouro mcp` can write to. */
export type McpConfigScope = (typeof MCP_SCOPES)[number];

const fileSchema = z.object({ mcpServers: z.record(z.string(), z.unknown()).catch({}) }).catch({ mcpServers: {} });

/** Opens the three files that may configure MCP servers: the user's, the project's and the local one. */
export function openMcpServerFiles(ouroHome: string, cwd: string) {
  const locks = createFileLocks(ouroHome);
  const getPath = (scope: McpConfigScope) =>
    scope === 'project' ? join(cwd, PROJECT_MCP_FILE) : getSettingsPath(scope, { ouroHome, cwd });

  /** Lists the servers named in one file, whether they are used or not. */
  async function listNames(scope: McpConfigScope): Promise<readonly string[]> {
    const text = (await readRegularFile(getPath(scope)).catch(() => undefined)) ?? '';
    return Object.keys(fileSchema.parse(parse(text, [], { allowTrailingComma: true }) ?? {}).mcpServers);
  }

  return {
    listNames,
    async findScopes(name: string): Promise<readonly McpConfigScope[]> {
      const names = await Promise.all(MCP_SCOPES.map(listNames));
      return MCP_SCOPES.filter((_, index) => names[index]?.includes(name));
    },
    /** Writes one entry, or removes it when `value` is undefined; returns the file or an error message. */
    async write(
      scope: McpConfigScope,
      name: string,
      value: object | undefined,
    ): Promise<{ readonly ok: true; readonly file: string } | { readonly ok: false; readonly problem: string }> {
      const file = getPath(scope);
      const getEdits = () => [{ path: ['mcpServers', name], value }];
      try {
        if (scope === 'project') await editJsonc(file, getEdits, { links: 'refuse', locks });
        else await editSettingsFile(scope, { ouroHome, cwd }, getEdits);
        return { ok: true, file };
      } catch (thrown) {
        return { ok: false, problem: getErrorMessage(thrown) };
      }
    },
  };
}

/** The servers configured in Claude Desktop, or the reason there are none to import. */
export type ClaudeDesktopServers =
  | {
      readonly ok: true;
      readonly file: string;
      readonly servers: readonly { readonly name: string; readonly entry: object }[];
    }
  | { readonly ok: false; readonly problem: string };

const config = z.object({ mcpServers: z.record(z.string(), z.looseObject({})).default({}) });

/** Reads the MCP servers of Claude Desktop from its configuration file on this system. */
export async function readClaudeDesktopServers(home: string, platform: NodeJS.Platform): Promise<ClaudeDesktopServers> {
  const folder =
    platform === 'darwin'
      ? join(home, 'Library', 'Application Support', 'Claude')
      : join(home, platform === 'win32' ? 'AppData/Roaming/Claude' : '.config/Claude');
  const file = join(folder, 'claude_desktop_config.json');
  try {
    const text = await readFileOrPipe(file);
    if (text === undefined) return { ok: false, problem: `${file} does not exist, so there is nothing to import.` };
    const { mcpServers } = config.parse(JSON.parse(text));
    return { ok: true, file, servers: Object.entries(mcpServers).map(([name, entry]) => ({ name, entry })) };
  } catch (thrown) {
    return { ok: false, problem: `${file} could not be read: ${getErrorMessage(thrown)}` };
  }
}
