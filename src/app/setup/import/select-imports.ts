import { FOREIGN_IMPORT_KINDS, type ForeignImportItem } from '../../../extensions/foreign/foreign-import-item.ts';
import type { ImportableItems } from './find-importable.ts';

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
export function selectImports(importable: ImportableItems, words: readonly string[]): Selection {
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
