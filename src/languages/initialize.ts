import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LanguageServer } from '../contracts/extension.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';

/** What is used of a server. Problems are pushed: who is not asked for them tells them by itself. */
const CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { versionSupport: true },
    hover: { contentFormat: ['markdown', 'plaintext'] },
    definition: { linkSupport: true },
    implementation: { linkSupport: true },
    references: {},
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    callHierarchy: {},
  },
  workspace: { workspaceFolders: true, configuration: true, symbol: {}, didChangeWatchedFiles: {} },
};

const folderOf = (folder: string) => ({ uri: pathToFileURL(folder).href, name: basename(folder) });

/** The first thing a server hears. */
export function initializeParams(
  { initializationOptions }: LanguageServer,
  { folder, version }: { readonly folder: string; readonly version: string },
): JsonObject {
  return {
    processId: process.pid,
    clientInfo: { name: 'ouro', version },
    rootPath: folder,
    rootUri: folderOf(folder).uri,
    workspaceFolders: [folderOf(folder)],
    capabilities: CAPABILITIES,
    ...(initializationOptions === undefined ? {} : { initializationOptions }),
  };
}

/** What a server may ask; it changes no files through us. */
export function answerServer(
  { settings = {} }: LanguageServer,
  folder: string,
  method: string,
  params: JsonValue,
): JsonValue | undefined {
  switch (method) {
    case 'workspace/configuration': {
      const items = isJsonObject(params) && Array.isArray(params.items) ? params.items : [];
      return items.map((item) => sectionOf(settings, isJsonObject(item) ? item.section : undefined));
    }
    case 'workspace/workspaceFolders':
      return [folderOf(folder)];
    case 'workspace/applyEdit':
      return { applied: false, failureReason: 'ouro edits files itself.' };
    case 'client/registerCapability':
    case 'client/unregisterCapability':
    case 'window/workDoneProgress/create':
    case 'window/showMessageRequest':
    case 'workspace/diagnostic/refresh':
    case 'workspace/codeLens/refresh':
    case 'workspace/inlayHint/refresh':
    case 'workspace/semanticTokens/refresh':
      return null;
    default:
      return undefined;
  }
}

/** `a.b` is the key `a.b`, or `b` in `a`. */
function sectionOf(settings: JsonObject, section: JsonValue | undefined): JsonValue {
  if (typeof section !== 'string' || section === '') return settings;
  if (settings[section] !== undefined) return settings[section];
  let found: JsonValue | undefined = settings;
  for (const part of section.split('.')) found = isJsonObject(found) ? found[part] : undefined;
  return found ?? null;
}

export type Sync = { readonly hears: boolean; readonly savesWithText: boolean };

/** How a server wants to hear of changes, from its answer. */
export function syncOf(result: JsonValue): Sync {
  const capabilities = isJsonObject(result) && isJsonObject(result.capabilities) ? result.capabilities : {};
  const said = capabilities.textDocumentSync;
  if (!isJsonObject(said)) return { hears: said !== 0, savesWithText: false };
  return { hears: said.change !== 0, savesWithText: isJsonObject(said.save) && said.save.includeText === true };
}
