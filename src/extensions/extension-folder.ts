import type { ExtensionProblem, ExtensionSource, PluginVariables } from '../contracts/extension.ts';
import {
  type MarkdownFile,
  type MarkdownFilePathResolver,
  type MarkdownFolder,
  readMarkdownFiles,
} from '../lib/files/markdown-files.ts';
import { type FrontMatter, parseFrontMatter } from '../lib/text/front-matter.ts';
import { reportIgnoredFrontMatter } from './front-matter-fields.ts';

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

/** An item of a file, with the fields of its front matter that are ignored; or why the file is none. */
type ParsedExtension<Item> =
  | { readonly item: Item; readonly ignoredFields: readonly string[] }
  | { readonly problem: string };

/** How one kind of extension is read from its files. */
export type ExtensionKind<Item> = {
  /** The name of several, for messages. */
  readonly label: string;
  /** The treatment of a file whose front matter cannot be parsed. */
  readonly broken: { readonly text: string; readonly use: 'nothing' | 'the body' };
  /** Returns the path under which a message lists a file; the file itself if missing. */
  readonly getListedPath?: (path: string) => string;
  readonly listFiles?: (folder: ExtensionFolder) => Promise<MarkdownFolder>;
  /** Creates the item of a file; `undefined` for a file of another kind. */
  readonly parse: (file: MarkdownFile & FrontMatter, folder: ExtensionFolder) => ParsedExtension<Item> | undefined;
  /** Describes that another item has the same name; absent: that is not reported. */
  readonly describeOverride?: (item: Item, winner: Item) => string;
};

/** Loads the files of all folders after the items that come first; of items with the same name the first one wins. */
export async function loadExtensionFiles<Item extends { readonly name: string; readonly path?: string }>(
  folders: readonly ExtensionFolder[],
  {
    label,
    broken,
    getListedPath = (path) => path,
    listFiles = listMarkdownFiles,
    parse,
    describeOverride,
  }: ExtensionKind<Item>,
  first: readonly Item[] = [],
): Promise<ExtensionLoadResult<Item>> {
  const items = new Map(first.map((item) => [item.name, item]));
  const problems: ExtensionProblem[] = [];
  for (const folder of folders) {
    const { files, skipped } = await listFiles(folder);
    problems.push(...skipped);
    const ignored = new Map<string, readonly string[]>();
    for (const file of files) {
      const { path } = file;
      const frontMatter = await parseFrontMatter(file.text);
      if (frontMatter.problem !== undefined) {
        const { line, text } = frontMatter.problem;
        problems.push({ path, line, text: `${text}. ${broken.text}` });
        if (broken.use === 'nothing') continue;
      }
      const parsed = parse({ ...file, ...frontMatter }, folder);
      if (parsed === undefined) continue;
      if ('problem' in parsed) {
        problems.push({ path, line: 1, text: parsed.problem });
        continue;
      }
      const winner = items.get(parsed.item.name);
      if (winner === undefined) {
        items.set(parsed.item.name, parsed.item);
        ignored.set(getListedPath(path), parsed.ignoredFields);
      } else if (winner.path !== path && describeOverride !== undefined)
        problems.push({ path, text: describeOverride(parsed.item, winner) });
    }
    problems.push(...reportIgnoredFrontMatter(folder.folder, label, ignored));
  }
  return { items: [...items.values()], problems };
}

const listMarkdownFiles = ({ folder, admit }: ExtensionFolder) => readMarkdownFiles(folder, admit);
