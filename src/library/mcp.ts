/** `ouro/mcp`: tools of MCP servers. */
export { connectMcp, type McpConnection, type McpServerEntry, type McpSettings } from './mcp-servers.ts';
