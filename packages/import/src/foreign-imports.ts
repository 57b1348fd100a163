import type { Environment, ForeignImportPlan, ForeignImports } from '@ouro-cli/ouro/commands';
import { applyImports, formatImportPlan } from './apply-imports.ts';
import { FOREIGN_IMPORT_KINDS, type ForeignImportItem } from './files/foreign-import-item.ts';
import { findImportable, getImportFolders, type ImportableItems, listForeignFiles } from './find-importable.ts';
import { importClaudeFiles } from './import-claude-files.ts';

/** Imports for a conversation and for the first run. */
export const foreignImports: ForeignImports = { listFiles: listForeignFiles, plan: planImport, importClaudeFiles };

/** Finds what words select; changes nothing. */
export async function planImport(
  environment: Environment,
  folder: string,
  words: readonly string[],
): Promise<ForeignImportPlan> {
  const selected = selectImports(await findImportable(environment, folder, words), words);
  if (!selected.ok) return selected;
  const { items, skipped } = selected.importable;
  return {
    ok: true,
    count: items.length,
    lines: formatImportPlan(selected.importable, getImportFolders(environment, folder)),
    skipped,
    apply: () => applyImports(items, environment, folder),
  };
}

/** The names of assistants as arguments: `copilot` for GitHub Copilot, `vscode` for VS Code. */
const ASSISTANTS: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  copilot: 'GitHub Copilot',
  vscode: 'VS Code',
  cursor: 'Cursor',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  pi: 'pi',
  cline: 'Cline',
  windsurf: 'Windsurf',
  kiro: 'Kiro',
  amp: 'Amp',
};

type Selection =
  | { readonly ok: true; readonly importable: ImportableItems }
  | { readonly ok: false; readonly problem: string };

/** Selects items by kinds and assistants: `cursor servers` means the servers of Cursor. */
function selectImports(importable: ImportableItems, words: readonly string[]): Selection {
  const kinds: readonly string[] = FOREIGN_IMPORT_KINDS;
  // `all` belongs to sessions, and was taken into account when they were looked for.
  const names = words.includes('sessions') ? words.filter((word) => word !== 'all') : words;
  const unknown = names.find((word) => !kinds.includes(word) && !Object.hasOwn(ASSISTANTS, word));
  if (unknown !== undefined) {
    const known = [...kinds, ...Object.keys(ASSISTANTS)].join(', ');
    return { ok: false, problem: `"${unknown}" cannot be imported. Use: ${known}.` };
  }
  const wantedKinds = words.filter((word) => kinds.includes(word));
  const wantedAssistants = words.flatMap((word) => ASSISTANTS[word] ?? []);
  const isSelected = ({ kind, assistant }: ForeignImportItem) =>
    (wantedKinds.length === 0 || wantedKinds.includes(kind)) &&
    (wantedAssistants.length === 0 || wantedAssistants.includes(assistant));
  const items = importable.items.filter(isSelected);
  const isComplete = words.length === 0 || words.includes('sessions');
  return { ok: true, importable: { items, skipped: isComplete ? importable.skipped : [] } };
}
