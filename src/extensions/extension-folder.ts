import type { ExtensionSource, PluginVariables } from '../contracts/extension.ts';
import type { Admit } from '../lib/files/markdown-files.ts';

/** A folder that holds extensions of one kind; where folders are listed, the strongest comes first. */
export type ExtensionFolder = {
  readonly folder: string;
  readonly source: ExtensionSource;
  /** Which of its files may be read, and where; absent: all. */
  readonly admit?: Admit;
  /** What stands before each of their names: a plugin's name and a colon. */
  readonly prefix?: string;
  /** Of the plugin it belongs to. */
  readonly pluginVariables?: PluginVariables;
};
