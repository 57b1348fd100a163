import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { HostConversation } from './host-conversation.ts';

/** The result of opening a conversation for a host. */
export type OpenedConversation =
  | { readonly ok: true; readonly conversation: Conversation; readonly hostConversation: HostConversation }
  | { readonly ok: false; readonly problem: string };

/** The conversation of a host, opened by the first line that needs it. */
export type LazyConversation = ReturnType<typeof createLazyConversation>;

/** Creates a conversation that is opened on demand, at most once. */
export function createLazyConversation(
  open: (options: CliRunOptions) => Promise<OpenedConversation>,
  warn: (text: string) => void,
) {
  let pending: Promise<OpenedConversation> | undefined;
  let result: OpenedConversation | undefined;
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>();

  return {
    isStarted: (): boolean => pending !== undefined,
    /** Returns the conversation, opening it with these options on the first call; throws the reason of a failure. */
    async open(options: CliRunOptions): Promise<Extract<OpenedConversation, { ok: true }>> {
      pending ??= open(options);
      const opened = await pending;
      const isFirst = result === undefined;
      result = opened;
      if (opened.ok) return opened;
      if (isFirst) warn(opened.problem);
      fail();
      throw new Error(opened.problem);
    },
    /** Returns the conversation once it is open. */
    getHostConversation: (): HostConversation | undefined =>
      result?.ok === true ? result.hostConversation : undefined,
    hasFailed: (): boolean => result?.ok === false,
    /** Resolves when the conversation could not be opened. */
    failed,
  };
}
