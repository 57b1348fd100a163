import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';

/** The first line of each turn's run: what the host may count on. */
export function initLine(conversation: Conversation): JsonObject {
  const info = conversation.info();
  return {
    type: 'system',
    subtype: 'init',
    cwd: info.cwd,
    session_id: info.sessionId,
    tools: info.tools,
    mcp_servers: info.mcpServers.map(({ name, status }) => ({ name, status })),
    model: info.model,
    permissionMode: info.mode,
    slash_commands: conversation.commands().map((command) => command.name),
    agents: info.agents,
    skills: info.skills,
    plugins: info.plugins,
    apiKeySource: info.apiKeySource,
    output_style: info.outputStyle,
    claude_code_version: '2.1.197',
    ouro_version: info.version,
  };
}
