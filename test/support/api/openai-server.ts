import { OPENAI_DIALECT } from './openai-dialect.ts';
import { type ApiTurn, status } from './reply.ts';
import { type ApiServer, type Script, startServer } from './server.ts';

/** The scripted server with the chat completions API; it also lists its models as Ollama does. */
export function startOpenAiServer(script: Script): Promise<ApiServer> {
  return startServer(script, OPENAI_DIALECT);
}

/** The error for a prompt that does not fit. */
export const contextLengthExceeded = (limit = 8192, tokens = 9000): ApiTurn =>
  status(
    400,
    `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
  );
