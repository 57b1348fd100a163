import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import {
  type Environment,
  exhaustive,
  type ForeignImportResult,
  formatCount,
  getErrorMessage,
  sanitize,
} from '@ouro-cli/ouro/commands';
import {
  createMcpConfigActions,
  describeMcpServerLaunch,
  editSettingsFile,
  getSettingsPath,
  parseMcpServerEntry,
} from '@ouro-cli/ouro/configuration';
import { isTypedByUser } from '@ouro-cli/ouro/sessions';
import type { ForeignImportFolders, ForeignImportItem, ForeignImportScope } from './files/foreign-import-item.ts';
import { getImportedCommandPath, getImportFolders, type ImportableItems } from './find-importable.ts';
import { importClaudeFiles } from './import-claude-files.ts';
import { storeImportedSession } from './sessions/import-session.ts';

/** Formats what an import would take, what of it is lost, and what is left. */
export function formatImportPlan({ items, skipped }: ImportableItems, places: ForeignImportFolders): readonly string[] {
  const lines = items.flatMap((item) => [
    `${item.assistant}: ${describeItem(item, places)}`,
    ...item.lost.map((text) => `    not imported: ${text}`),
  ]);
  return [...lines, ...skipped.map((text) => `not imported: ${text}`)].map((line) => sanitize(line, 'line'));
}

function describeItem(item: ForeignImportItem, places: ForeignImportFolders): string {
  switch (item.kind) {
    case 'settings':
      return `${item.holds.join(', ')} of ${item.from}, copied to ${places.ouroHome}`;
    case 'instructions':
      return `instructions ${item.entry} (${formatCount(item.files.length, 'file')}), read where they are`;
    case 'servers': {
      const parsed = parseMcpServerEntry(item.entry);
      const launch = parsed.ok ? describeMcpServerLaunch(parsed.launch) : `invalid: ${parsed.problem}`;
      return `MCP server ${item.name} of ${item.path}: ${launch}`;
    }
    case 'commands':
      return `command /${item.name.replaceAll('/', ':')} of ${item.path}`;
    case 'sessions': {
      const prompts = formatCount(item.messages.filter(isTypedByUser).length, 'prompt');
      return `session "${getSessionTitle(item)}" of ${new Date(item.updatedMs).toISOString().slice(0, 10)}, ${prompts}`;
    }
    default:
      return exhaustive(item);
  }
}

const TITLE_CHARS = 60;

function getSessionTitle({ title, messages }: Extract<ForeignImportItem, { kind: 'sessions' }>): string {
  const first = messages.find(isTypedByUser)?.blocks.find((block) => block.type === 'text');
  const text = title ?? (first?.type === 'text' ? first.text : '');
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, TITLE_CHARS);
}

/** Imports items. Existing files, servers and settings are never replaced. */
export async function applyImports(
  items: readonly ForeignImportItem[],
  environment: Environment,
  folder: string,
): Promise<ForeignImportResult> {
  const places = getImportFolders(environment, folder);
  const results = [await saveInstructions(items, 'project', places), await saveInstructions(items, 'user', places)];
  for (const item of items) results.push(await takeItem(item, environment, places));
  const clean = (lines: readonly string[]) => lines.map((line) => sanitize(line, 'line'));
  return {
    taken: clean(results.flatMap(({ taken }) => taken)),
    failed: clean(results.flatMap(({ failed }) => failed)),
  };
}

const NOTHING: ForeignImportResult = { taken: [], failed: [] };

/** Adds the instruction files of one scope to the settings: of the user, or of this project on this machine. */
async function saveInstructions(
  items: readonly ForeignImportItem[],
  scope: ForeignImportScope,
  { cwd, ouroHome }: ForeignImportFolders,
): Promise<ForeignImportResult> {
  const entries = items.flatMap((item) => (item.kind === 'instructions' && item.scope === scope ? [item.entry] : []));
  if (entries.length === 0) return NOTHING;
  const target = scope === 'user' ? 'user' : 'local';
  const file = getSettingsPath(target, { ouroHome, cwd });
  try {
    await editSettingsFile(target, { ouroHome, cwd }, ({ instructionFiles: existing }) => {
      const before = Array.isArray(existing) ? existing : [];
      return [{ path: ['instructionFiles'], value: [...new Set([...before, ...entries])] }];
    });
    return { taken: [`instructions ${entries.join(', ')} (named in ${file})`], failed: [] };
  } catch (thrown) {
    return { taken: [], failed: [`instructions: ${getErrorMessage(thrown)}`] };
  }
}

async function takeItem(
  item: ForeignImportItem,
  environment: Environment,
  places: ForeignImportFolders,
): Promise<ForeignImportResult> {
  try {
    switch (item.kind) {
      case 'settings': {
        const [summary = '', ...notes] = await importClaudeFiles(item.from, places.ouroHome);
        return { taken: [summary], failed: notes };
      }
      case 'servers': {
        const manager = createMcpConfigActions(environment, places.cwd);
        const added = await manager.add(item.name, item.entry, item.scope === 'user' ? 'user' : 'local');
        return added.ok ? { taken: [added.message], failed: [] } : { taken: [], failed: [added.message] };
      }
      case 'commands': {
        const file = getImportedCommandPath(item, places);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, item.text, { flag: 'wx' });
        return { taken: [`command /${item.name.replaceAll('/', ':')} (${relative(places.cwd, file)})`], failed: [] };
      }
      case 'sessions': {
        const { ouroHome, version } = environment;
        await storeImportedSession(item, { ouroHome, version });
        return { taken: [`session "${getSessionTitle(item)}": ouro --resume ${item.id.slice(0, 8)}`], failed: [] };
      }
      default:
        return NOTHING;
    }
  } catch (thrown) {
    return { taken: [], failed: [`${item.path}: ${getErrorMessage(thrown)}`] };
  }
}
