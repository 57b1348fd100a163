import type { Handler } from '../handler.ts';
import { mcpHandlers } from './mcp.ts';
import { runHandlers } from './run.ts';
import { sessionHandlers } from './session.ts';
import { usageHandlers } from './usage.ts';

/** Every request a host may make once the conversation is open; what is not here is unsupported. */
export const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  Object.entries({ ...runHandlers, ...usageHandlers, ...mcpHandlers, ...sessionHandlers }),
);
