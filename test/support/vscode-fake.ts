import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { TempProject } from './temp-project.ts';

type Listener = (value: unknown) => unknown;
type Tab = { readonly label: string; readonly input: { readonly modified: FakeUri } };
type Provider = { readFile(uri: FakeUri): Uint8Array; writeFile(uri: FakeUri, bytes: Uint8Array): void };
type TreeView = {
  readonly getChildren: (element?: unknown) => unknown;
  readonly getTreeItem: (element: unknown) => Record<string, unknown>;
};

class FakeUri {
  constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}
  get fsPath() {
    return this.path;
  }
  toString() {
    return this.scheme === 'file' ? pathToFileURL(this.path).href : `${this.scheme}:${this.path}`;
  }
  static file = (path: string) => new FakeUri('file', path);
  static from = ({ scheme, path }: { readonly scheme: string; readonly path: string }) => new FakeUri(scheme, path);
  static parse = (text: string) => FakeUri.file(fileURLToPath(text));
}

class FakeEmitter {
  readonly #listeners = new Set<Listener>();
  readonly event = (listener: Listener) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(value?: unknown): void {
    for (const listener of this.#listeners) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

const createError = (path: string) => new Error(`${path} is not there`);

/** The extension in a window of VS Code, of which only the parts that it uses are there. */
export async function startExtension(project: TempProject, { command = 'ouro' } = {}) {
  const commands = new Map<string, (...args: readonly unknown[]) => unknown>();
  const providers = new Map<string, Provider>();
  const views = new Map<string, { readonly view: object; readonly provider: TreeView }>();
  const terminals: Record<string, unknown>[] = [];
  const typed: string[] = [];
  const notes: string[] = [];
  const listeners = new Set<() => void>();
  const tabs: Tab[] = [];
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const [tabEvents, selectionEvents, editorEvents, folderEvents, saveEvents, savedEvents, visibilityEvents] = [
    1, 2, 3, 4, 5, 6, 7,
  ].map(() => new FakeEmitter());
  let diagnostics: readonly (readonly [FakeUri, readonly unknown[]])[] = [];
  const closeTabs = (closed: readonly Tab[]) => {
    for (const tab of closed) tabs.splice(tabs.indexOf(tab), 1);
    tabEvents?.fire({ opened: [], closed, changed: [] });
    changed();
  };

  const api = {
    Uri: FakeUri,
    EventEmitter: FakeEmitter,
    Disposable: class {
      constructor(readonly dispose: () => void) {}
    },
    Range: class {
      constructor(
        readonly start: unknown,
        readonly end: unknown,
      ) {}
    },
    TreeItem: class {
      constructor(readonly label: string) {}
    },
    ThemeIcon: class {
      constructor(readonly id: string) {}
    },
    FileType: { File: 1 },
    FileSystemError: { FileNotFound: createError },
    TextDocumentSaveReason: { Manual: 1, AfterDelay: 2 },
    ViewColumn: { Beside: -2 },
    env: { appName: 'Visual Studio Code' },
    languages: { getDiagnostics: () => diagnostics },
    commands: {
      registerCommand(name: string, run: (...args: readonly unknown[]) => unknown) {
        commands.set(name, run);
        return { dispose: () => commands.delete(name) };
      },
      async executeCommand(name: string, ...args: readonly unknown[]) {
        const [, modified, label] = args;
        if (name === 'vscode.diff' && modified instanceof FakeUri) {
          if (tabs.some(({ input }) => input.modified === modified)) notes.push(`diff ${String(label)}`);
          else tabs.push({ label: String(label), input: { modified } });
          changed();
        }
      },
    },
    workspace: {
      textDocuments: [] as { uri: FakeUri; isDirty: boolean; isUntitled: boolean; getText(): string }[],
      workspaceFolders: [{ name: 'project', uri: FakeUri.file(project.dir) }],
      fs: {
        async stat({ path }: FakeUri) {
          if (!existsSync(path)) throw new Error('not there');
        },
      },
      getConfiguration: () => ({ get: () => command }),
      registerFileSystemProvider(scheme: string, provider: Provider) {
        providers.set(scheme, provider);
        return { dispose: () => providers.delete(scheme) };
      },
      openTextDocument: async (uri: FakeUri) => ({ uri, getText: () => readFileSync(uri.path, 'utf8') }),
      onWillSaveTextDocument: saveEvents?.event,
      onDidSaveTextDocument: savedEvents?.event,
      onDidChangeWorkspaceFolders: folderEvents?.event,
    },
    window: {
      activeTextEditor: undefined as unknown,
      terminals,
      tabGroups: {
        get all() {
          return [{ tabs: [...tabs] }];
        },
        get activeTabGroup() {
          return { activeTab: tabs.at(-1) };
        },
        close: async (closed: readonly Tab[]) => closeTabs(closed),
        onDidChangeTabs: tabEvents?.event,
      },
      onDidChangeTextEditorSelection: selectionEvents?.event,
      onDidChangeActiveTextEditor: editorEvents?.event,
      createTreeView(id: string, { treeDataProvider }: { readonly treeDataProvider: TreeView }) {
        const view = { dispose: () => views.delete(id), onDidChangeVisibility: visibilityEvents?.event };
        views.set(id, { view, provider: treeDataProvider });
        return view;
      },
      createTerminal(options: Record<string, unknown>) {
        const terminal = { ...options, show: () => undefined, sendText: (text: string) => void typed.push(text) };
        terminals.push(terminal);
        return terminal;
      },
      async showTextDocument({ uri }: { readonly uri: FakeUri }) {
        notes.push(`shown ${uri.path}`);
        changed();
      },
      showInformationMessage: (text: string) => void notes.push(text),
    },
  };

  const folder = join(project.dir, '../extension');
  cpSync(join(import.meta.dirname, '../../packages/vscode'), folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules/vscode'), { recursive: true });
  const module = join(folder, 'node_modules/vscode/index.cjs');
  writeFileSync(join(folder, 'node_modules/vscode/package.json'), '{"main":"index.cjs"}');
  writeFileSync(module, 'module.exports = {};');
  const require = createRequire(join(folder, 'src/extension.cjs'));
  Object.defineProperties(require(module), Object.getOwnPropertyDescriptors(api));
  const variables = new Map<string, string>();
  const subscriptions: { dispose(): unknown }[] = [];
  const { CLAUDE_CONFIG_DIR: configFolder } = process.env;
  process.env.CLAUDE_CONFIG_DIR = join(project.home, '.claude');
  const extension = require(join(folder, 'src/extension.cjs'));
  await extension.activate({
    subscriptions,
    extension: { packageJSON: { version: '1.2.3' } },
    environmentVariableCollection: { replace: (name: string, value: string) => void variables.set(name, value) },
  });

  if (configFolder === undefined) delete process.env.CLAUDE_CONFIG_DIR;
  else process.env.CLAUDE_CONFIG_DIR = configFolder;

  const stop = () => {
    for (const subscription of subscriptions.splice(0)) subscription.dispose();
  };
  return {
    variables,
    terminals,
    typed,
    notes,
    listDiffs: () => tabs.map(({ label }) => label),
    /** Resolves when the condition holds after something has happened in the window. */
    until(isMet: () => boolean): Promise<void> {
      return new Promise((resolve) => {
        const check = () => {
          if (!isMet()) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
      });
    },
    run: (name: string, ...args: readonly unknown[]) => commands.get(name)?.(...args),
    /** The user selects lines of a file. */
    select(file: string, text: string, [first, last]: readonly [number, number]): void {
      const [start, end] = [first, last].map((line) => ({ line, character: 0 }));
      const selection = { start, end, isEmpty: first === last };
      api.window.activeTextEditor = { document: { uri: FakeUri.file(file), getText: () => text }, selection };
      selectionEvents?.fire();
    },
    addTerminal(name: string, pid: number): void {
      terminals.push({ name, processId: Promise.resolve(pid), show: () => void notes.push(`terminal ${name}`) });
    },
    setUnsaved(file: string): void {
      api.workspace.textDocuments.push({
        uri: FakeUri.file(file),
        isDirty: true,
        isUntitled: false,
        getText: () => '',
      });
    },
    setError(file: string, message: string): void {
      const position = { line: 1, character: 2 };
      diagnostics = [[FakeUri.file(file), [{ message, severity: 0, range: { start: position, end: position } }]]];
    },
    /** The open diff is changed and saved, by the user or after a delay. */
    saveDiff(change: (text: string) => string, reason: 'Manual' | 'AfterDelay' = 'Manual'): void {
      const uri = tabs.at(-1)?.input.modified;
      const provider = uri && providers.get(uri.scheme);
      if (uri === undefined || provider === undefined) return;
      const text = change(Buffer.from(provider.readFile(uri)).toString('utf8'));
      const document = { uri, getText: () => text };
      saveEvents?.fire({ document, reason: api.TextDocumentSaveReason[reason] });
      provider.writeFile(uri, Buffer.from(text));
      savedEvents?.fire(document);
    },
    closeDiff: () => closeTabs(tabs.slice(-1)),
    /** Lists the labels of a view. */
    async list(view: string): Promise<readonly unknown[]> {
      const provider = views.get(view)?.provider;
      const elements = (await provider?.getChildren()) ?? [];
      return Array.isArray(elements) ? elements.map((element) => provider?.getTreeItem(element).label) : [];
    },
    /** Runs the command of the first item of a view. */
    clickFirst(view: string): unknown {
      const provider = views.get(view)?.provider;
      const [first]: readonly unknown[] = Object(provider?.getChildren());
      const { command } = Object(provider?.getTreeItem(first));
      return commands.get(command.command)?.(...command.arguments);
    },
    getMessage: (view: string): unknown => Object(views.get(view)?.view).message,
    /** The window is reloaded or closed. */
    stop,
    [Symbol.dispose]: stop,
  };
}
