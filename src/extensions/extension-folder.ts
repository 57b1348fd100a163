import type { ExtensionProblem, ExtensionSource, PluginVariables } from '../contracts/extension.ts';
import type { MarkdownFilePathResolver } from '../lib/files/markdown-files.ts';

/** A folder with extensions of one kind; lists of folders are ordered by precedence, highest first. */
export type ExtensionFolder = {
  readonly folder: string;
  readonly source: ExtensionSource;
  /** Decides which files may be read and returns their real path; absent: all. */
  readonly admit?: MarkdownFilePathResolver;
  /** Prefix of every name: a plugin's name and a colon. */
  readonly prefix?: string;
  /** Variables of the plugin that owns the folder. */
  readonly pluginVariables?: PluginVariables;
};

/** Loaded items, with the problems that were found on the way. */
export type ExtensionLoadResult<Item> = {
  readonly items: readonly Item[];
  readonly problems: readonly ExtensionProblem[];
};
