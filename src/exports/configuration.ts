/** Files that configure ouro: settings, MCP servers, instructions. */

export { createMcpConfigActions } from '../app/mcp-config-actions.ts';
export { openMcpServerFiles } from '../mcp/config/mcp-server-files.ts';
export { parseMcpServerEntry } from '../mcp/config/parse-mcp-server-entry.ts';
export { describeMcpServerLaunch } from '../mcp/configured-mcp-server.ts';
export { escapeImport, parseMemory } from '../prompt/memory/parse-memory.ts';
export { editSettingsFile, getSettingsPath, saveUserSetting } from '../settings/edit-settings.ts';
export { findImportOffer, storeImportAnswer } from '../settings/import-offer.ts';
export { formatConfigProblems } from '../settings/load-settings.ts';
export { parseSettingsLayer } from '../settings/parse-settings-layer.ts';
