import type { HostMcpServer } from '../../contracts/face/host.ts';
import type { ProgramLedger } from '../../lib/processes/piped-program.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import type { KeepBytes } from '../content.ts';
import type { Ask } from '../elicit.ts';
import type { Sample } from '../sampling/sampler.ts';

/** Something about a server changed: tools came or went, it connected or broke. */
export type McpChange =
  | { readonly kind: 'state'; readonly server: string; readonly level: 'info' | 'warn'; readonly words: string }
  | {
      readonly kind: 'tools';
      readonly server: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  | { readonly kind: 'prompts' | 'resources'; readonly server: string }
  /** A resource that was read is another one now. */
  | { readonly kind: 'resource'; readonly server: string; readonly uri: string }
  /** What a person visited an address for is done. */
  | { readonly kind: 'visited'; readonly server: string; readonly id: string };

/** What the servers need from the rest. */
export type McpParts = {
  readonly servers: readonly ConfiguredServer[];
  /** Servers inside the host's process. */
  readonly hosted: readonly HostMcpServer[];
  readonly cwd: string;
  /** Folders told to servers that ask for roots. */
  readonly roots: () => readonly string[];
  /** The environment, without our secrets. Of it a server gets only what programs need to run. */
  readonly variables: Readonly<Record<string, string>>;
  /** What the settings add for every server. */
  readonly added?: () => Readonly<Record<string, string>>;
  /** Tokens are kept below it. */
  readonly ouroHome: string;
  readonly version: string;
  /** Limits that hold now; asked at each start and each call. */
  readonly limits?: () => { readonly startMs?: number | undefined; readonly callMs?: number | undefined };
  /** The first wait before a lost server is started again; it doubles. */
  readonly backoffMs?: number;
  /** Asks the person when a server asks outside any call; a call's own `ask` comes first. */
  readonly ask?: Ask;
  /** Asks the model of the conversation for a server; without it servers hear that none can be asked. */
  readonly sample?: Sample;
  /** What rules say of a server that wants that; absent: the person is asked. */
  readonly samplingRule?: (server: string) => 'allow' | 'ask' | 'deny' | undefined;
  /** Where bytes go that a model cannot be shown: sounds, archives. */
  readonly keepBytes?: KeepBytes;
  readonly onChange: (change: McpChange) => void;
  readonly newMarker: () => string;
  readonly ledger?: ProgramLedger;
};
