import type { z } from 'zod';
import type { HookGroup } from './hook.ts';
import type { Frozen, JsonObject, JsonValue } from './json.ts';
import type { SettingsSource } from './permission.ts';
import type { settingsSchema } from './setting-keys.ts';

/** The content of a settings file. Every key is optional. Lists of all layers are combined, scalars override. */
export type Settings = Omit<Frozen<z.output<typeof settingsSchema>>, 'hooks' | 'providers' | 'models'> & {
  readonly hooks?: Readonly<Record<string, readonly HookGroup[]>>;
  readonly providers?: JsonObject;
  readonly models?: JsonObject;
};

/** The settings of the sandbox. */
export type SandboxSettings = NonNullable<Settings['sandbox']>;
/** The search provider of the tool WebSearch. */
export type WebSearchSettings = NonNullable<Settings['webSearch']>;

/** One settings file as it was read. */
export type SettingsLayer = {
  readonly source: SettingsSource;
  readonly file: string;
  readonly settings: Settings;
  /** Returns the line of a value, for messages that name file and line. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
};

/** A problem in a settings file. */
export type SettingsProblem = {
  readonly file: string;
  readonly line: number | undefined;
  readonly text: string;
  readonly source: SettingsSource;
  /**
   * `broken_file`: at most the deny and ask rules of the file are used; `unreadable_file`: none of it;
   * `broken_rules`: deny or ask rules were dropped; `not_trusted`: the folder is not trusted.
   */
  readonly code?: 'broken_file' | 'unreadable_file' | 'broken_rules' | 'not_trusted';
  readonly unknownKeys?: readonly string[];
};

/** All layers, and their merged settings. */
export type LoadedSettings = {
  readonly layers: readonly SettingsLayer[];
  readonly merged: Settings;
  readonly problems: readonly SettingsProblem[];
};

/** The value of a setting, and where it comes from. */
export type SettingWithSource = {
  readonly key: string;
  readonly value: JsonValue;
  readonly source: SettingsSource | 'default';
  readonly file?: string;
  readonly line?: number;
};
