import type { HostMcpServer } from '../../contracts/frontend/host-capabilities.ts';
import type { ChildProcessLedger } from '../../lib/processes/piped-program.ts';
import type { ProgramCheck } from '../../lib/processes/program-check.ts';
import type { ConfiguredMcpServer } from '../configured-mcp-server.ts';
import type { SaveBinaryContent } from '../content.ts';
import type { AskUser } from '../elicit.ts';
import type { RunSamplingRequest } from '../sampling.ts';

/** A change of a server: its connection, its tools, prompts or resources. */
export type McpChange =
  | { readonly kind: 'state'; readonly server: string; readonly level: 'info' | 'warn'; readonly message: string }
  | {
      readonly kind: 'tools';
      readonly server: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  | { readonly kind: 'prompts' | 'resources'; readonly server: string }
  /** A resource that was read before has changed. */
  | { readonly kind: 'resource'; readonly server: string; readonly uri: string }
  /** The user finished what an address was opened for. */
  | { readonly kind: 'visited'; readonly server: string; readonly id: string };

/** The dependencies of the MCP hub. */
export type McpHubDeps = {
  readonly servers: readonly ConfiguredMcpServer[];
  /** Servers that run in the host process. */
  readonly hostServers: readonly HostMcpServer[];
  readonly cwd: string;
  /** Decides about the program of a server before it is started. */
  readonly checkProgram: ProgramCheck;
  /** Folders sent to servers that ask for roots. */
  readonly getRoots: () => readonly string[];
  /** Environment without ouro's own secrets; a server gets the subset programs need to run. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables the settings add for every server. */
  readonly getExtraVariables?: () => Readonly<Record<string, string>>;
  /** ouro's home, which holds the logins. */
  readonly ouroHome: string;
  readonly version: string;
  /** Current limits; read at each start and each call. */
  readonly getLimits?: () => { readonly startMs?: number | undefined; readonly callMs?: number | undefined };
  /** Delay before the first restart of a lost server; doubled for each further one. */
  readonly backoffMs?: number;
  /** Waits for the first lists of an initialized server, which normally answers at once. */
  readonly listWaits?: { readonly toolsMs: number; readonly promptsMs: number };
  /** Interval of the writes that show whether a server with an unanswered request still reads. */
  readonly probeIntervalMs?: number;
  /** Asks the user outside any call; during a call the call's own `ask` is used. */
  readonly ask?: AskUser;
  /** Runs a server's request on the conversation's model; absent: sampling is not offered. */
  readonly sample?: RunSamplingRequest;
  /** Verdict of the permission rules on a server's sampling; absent: the user is asked. */
  readonly getSamplingVerdict?: (server: string) => 'allow' | 'ask' | 'deny' | undefined;
  /** Saves bytes a model cannot be shown, such as audio and archives. */
  readonly saveBytes?: SaveBinaryContent;
  readonly onChange: (change: McpChange) => void;
  readonly newMarker: () => string;
  readonly ledger?: ChildProcessLedger;
};
