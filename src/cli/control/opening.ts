import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { HostRun } from './host-run.ts';

export type Opened =
  | { readonly ok: true; readonly conversation: Conversation; readonly run: HostRun }
  | { readonly ok: false; readonly problem: string };

/** The conversation of a host, opened at most once. */
export type Opening = {
  hasBegun(): boolean;
  /** Opens it with these options, unless that was done before; throws the reason why there is none. */
  opened(options: RunOptions): Promise<Extract<Opened, { ok: true }>>;
  /** Its run, once it is open. */
  run(): HostRun | undefined;
  hasFailed(): boolean;
  /** Resolves when there will be no conversation. */
  readonly failed: Promise<void>;
};

export function createOpening(open: (options: RunOptions) => Promise<Opened>, warn: (text: string) => void): Opening {
  let opening: Promise<Opened> | undefined;
  let result: Opened | undefined;
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>();

  return {
    hasBegun: () => opening !== undefined,
    async opened(options) {
      opening ??= open(options);
      const opened = await opening;
      const isFirst = result === undefined;
      result = opened;
      if (opened.ok) return opened;
      if (isFirst) warn(opened.problem);
      fail();
      throw new Error(opened.problem);
    },
    run: () => (result?.ok === true ? result.run : undefined),
    hasFailed: () => result?.ok === false,
    failed,
  };
}
