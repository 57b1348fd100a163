import type { AgentPort } from '../agent/parts.ts';
import type { Agent, AgentListener } from '../contracts/agent.ts';
import type { Environment, Limits } from '../contracts/environment.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import type { LiveState } from '../contracts/live.ts';
import type { LoadedSettings, Settings } from '../contracts/settings.ts';
import type { Extensions } from '../extensions/load-extensions.ts';
import type { Repository } from '../git/repository.ts';
import type { ModelChoice } from '../model/choose/choose-port.ts';
import type { UsageMeter } from '../model/usage-meter.ts';

/** What every part of a conversation needs, built before any of them. A part is `createX(core, needs)`. */
export type Core = {
  /** What was asked for, as the sub-agent it is to be held as and with the folder of the demo. */
  readonly options: RunOptions;
  readonly environment: Environment;
  /** The real path of the folder the conversation belongs to. */
  readonly cwd: string;
  /** May what the folder brings along be read and run? */
  readonly trusted: boolean;
  /** May this file, which lies outside, be brought in by instructions of the folder? It was shown and accepted. */
  readonly acceptsOutside: (realPath: string) => boolean;
  readonly settings: SettingsNow;
  readonly extensions: ExtensionsNow;
  readonly live: LiveState;
  readonly model: ModelChoice;
  /** The model for side calls beside the one in use now; absent where they should be left out. */
  readonly smallModel: () => string | undefined;
  readonly meter: UsageMeter;
  readonly repository: Repository;
  readonly bus: Bus;
  readonly now: () => number;
  readonly newId: () => string;
};

/** Settings as they stand in their files. Ask where you act; a copy made at the start is out of date. */
export type SettingsNow = {
  now(): Settings;
  /** The same with every layer and what is wrong with it. */
  loaded(): LoadedSettings;
  /** Patience and limits of time: the environment first, then the settings. */
  limits(): Limits;
  /** What a command, a hook or a script of somebody gets: the surroundings and what the settings add, without keys. */
  variables(): Readonly<Record<string, string>>;
  /** Looks whether a file has changed, and reads it again if so. */
  refresh(): Promise<void>;
  /** To be called after we wrote to a file of the project ourselves: that change needs no new approval. */
  approveOwnChange(): Promise<void>;
};

/** Commands, skills, sub-agents and styles as they stand in their files. */
export type ExtensionsNow = {
  now(): Extensions;
  /** Reads them again if a file has changed. */
  refresh(): Promise<void>;
  reload(): Promise<void>;
};

/** Where events are told, from the first moment on. */
export type Bus = {
  tell(event: AgentEvent): Promise<void>;
  /** The port of the agent; throws before there is one. */
  port(): AgentPort;
  /** The agent is there: what was told before reaches its listeners now. */
  attach(port: AgentPort): void;
  /** Subscribes somebody, who also hears the notices that were told before, until the first prompt begins. */
  join(subscribe: Agent['subscribe'], listener: AgentListener): () => void;
  /** The first prompt begins: whoever joins later has missed what was told. */
  begin(): void;
};
