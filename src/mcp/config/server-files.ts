import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import { messageOf } from '../../lib/errors.ts';
import { editJsonc } from '../../lib/files/edit-jsonc.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { PROJECT_FILE } from './config.ts';

const MCP_SCOPES = ['user', 'project', 'local'] as const;
export type McpScope = (typeof MCP_SCOPES)[number];

const holding = z.object({ mcpServers: z.record(z.string(), z.unknown()).catch({}) }).catch({ mcpServers: {} });

/** The three files of a folder and its person in which MCP servers may be written down. */
export function openServerFiles(ouroHome: string, cwd: string) {
  const fileOf = (scope: McpScope) =>
    scope === 'user'
      ? join(ouroHome, 'settings.json')
      : join(cwd, scope === 'project' ? PROJECT_FILE : '.claude/settings.local.json');

  /** The servers that stand in one file, whether they count or not. */
  async function namesIn(scope: McpScope): Promise<readonly string[]> {
    const text = (await ifThere(readFile(fileOf(scope), 'utf8'))) ?? '';
    return Object.keys(holding.parse(parse(text, [], { allowTrailingComma: true }) ?? {}).mcpServers);
  }

  return {
    namesIn,
    async scopesOf(name: string): Promise<readonly McpScope[]> {
      const names = await Promise.all(MCP_SCOPES.map(namesIn));
      return MCP_SCOPES.filter((_, at) => names[at]?.includes(name));
    },
    /** Writes one entry, or takes it away; answers with the file, or why not. */
    async write(
      scope: McpScope,
      name: string,
      value: object | undefined,
    ): Promise<{ readonly ok: true; readonly file: string } | { readonly ok: false; readonly words: string }> {
      const file = fileOf(scope);
      try {
        await editJsonc(file, () => [{ path: ['mcpServers', name], value }], scope === 'user' ? 'follow' : 'refuse');
        return { ok: true, file };
      } catch (thrown) {
        return { ok: false, words: messageOf(thrown) };
      }
    },
  };
}
