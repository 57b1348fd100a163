import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { ControlPort } from '../../contracts/face/host.ts';
import { conversationOffer } from './conversation-offer.ts';
import { serveHttp } from './serve-http.ts';
import { servedClient } from './served-client.ts';

/** Offers a conversation: to the program at the other end of the pipes, or to those of this machine that know the token. */
export async function serve(
  conversation: Conversation,
  place: Parameters<ControlPort['serve']>[0],
): ReturnType<ControlPort['serve']> {
  const offer = conversationOffer(conversation);
  const closed = Promise.withResolvers<void>();
  if (place.over === 'http') {
    const { url } = await serveHttp(offer, place);
    return { url, closed: closed.promise };
  }
  const server = servedClient(offer);
  server.onclose = closed.resolve;
  process.stdin.once('end', () => void server.close());
  await server.connect(new StdioServerTransport());
  return { url: undefined, closed: closed.promise };
}
