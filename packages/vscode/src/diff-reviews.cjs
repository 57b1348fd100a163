'use strict';
const { basename } = require('node:path');
const vscode = require('vscode');

const SCHEME = 'ouro-diff';

/**
 * Shows proposed edits as diffs. The right side can be changed; to save it accepts the edit, to close the tab refuses
 * it. The file itself is written by ouro.
 */
function createDiffReviews(subscriptions) {
  /** Open reviews by the path of their right side. */
  const reviews = new Map();
  const changes = new vscode.EventEmitter();
  let count = 0;

  const fileSystem = {
    onDidChangeFile: changes.event,
    watch: () => new vscode.Disposable(() => undefined),
    stat: ({ path }) => {
      const { bytes, mtime } = find(path);
      return { type: vscode.FileType.File, ctime: 0, mtime, size: bytes.length };
    },
    readFile: ({ path }) => find(path).bytes,
    writeFile({ path }, bytes) {
      const review = find(path);
      review.bytes = bytes;
      review.mtime += 1;
    },
    readDirectory: () => [],
    createDirectory: () => undefined,
    delete: () => undefined,
    rename: () => undefined,
  };

  function find(path) {
    const review = reviews.get(path);
    if (review === undefined) throw vscode.FileSystemError.FileNotFound(path);
    return review;
  }

  function add(file, text, side) {
    count += 1;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${count}/${side}/${basename(file)}` });
    const review = { uri, bytes: Buffer.from(text), mtime: 1 };
    reviews.set(uri.path, review);
    return review;
  }

  const findReview = ({ uri }) => (uri.scheme === SCHEME ? reviews.get(uri.path) : undefined);
  const findDocument = (review) => vscode.workspace.textDocuments.find((document) => findReview(document) === review);
  const listTabs = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
  const findTabs = ({ uri }) =>
    listTabs().filter(({ input }) => input?.modified?.path === uri.path && input.modified.scheme === SCHEME);

  async function settle(review, texts) {
    const { decide } = review;
    if (decide === undefined) return;
    review.decide = undefined;
    decide(texts);
    updateContext();
    // VS Code asks before it closes a changed tab.
    const document = findDocument(review);
    if (document?.isDirty === true) await document.save();
    const tabs = findTabs(review);
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
    reviews.delete(review.uri.path);
    if (review.left !== undefined) reviews.delete(review.left.uri.path);
  }

  const listOpen = () => [...reviews.values()].filter(({ decide }) => decide !== undefined);
  const updateContext = () => void vscode.commands.executeCommand('setContext', 'ouro.hasDiff', listOpen().length > 0);

  function findActive() {
    const input = vscode.window.tabGroups.activeTabGroup?.activeTab?.input;
    const active = input?.modified === undefined ? undefined : reviews.get(input.modified.path);
    return active ?? listOpen()[0];
  }

  subscriptions.push(
    changes,
    vscode.workspace.registerFileSystemProvider(SCHEME, fileSystem, { isCaseSensitive: true }),
    // A save that the user has not asked for accepts nothing.
    vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
      const review = findReview(document);
      if (review !== undefined) review.isSavedByUser = reason === vscode.TextDocumentSaveReason.Manual;
    }),
    // The tab can be closed only after the save: until then it counts as changed.
    vscode.workspace.onDidSaveTextDocument((document) => {
      const review = findReview(document);
      if (review?.isSavedByUser === true) void settle(review, ['FILE_SAVED', document.getText()]);
    }),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      for (const { input } of closed) {
        const review = input?.modified?.scheme === SCHEME ? reviews.get(input.modified.path) : undefined;
        if (review !== undefined && findTabs(review).length === 0) void settle(review, ['DIFF_REJECTED', review.title]);
      }
    }),
    vscode.commands.registerCommand('ouro.acceptDiff', async () => {
      const review = findActive();
      if (review === undefined) return;
      const text = findDocument(review)?.getText() ?? Buffer.from(review.bytes).toString('utf8');
      await settle(review, ['FILE_SAVED', text]);
    }),
    vscode.commands.registerCommand('ouro.rejectDiff', async () => {
      const review = findActive();
      if (review !== undefined) await settle(review, ['DIFF_REJECTED', review.title]);
    }),
  );

  // After a reload of the window, its diffs are tabs without content; ouro shows them again.
  void vscode.window.tabGroups.close(listTabs().filter(({ input }) => input?.modified?.scheme === SCHEME));

  return {
    /** Shows a diff; resolves with the texts of the answer when the user has decided. */
    async open({ old_file_path: file, new_file_contents: text, tab_name: title }, connection) {
      const old = vscode.Uri.file(file);
      const exists = await vscode.workspace.fs.stat(old).then(
        () => true,
        () => false,
      );
      const left = exists ? undefined : add(file, '', 'before');
      const review = Object.assign(add(file, text, 'after'), { title, left, connection });
      const decided = new Promise((resolve) => {
        review.decide = resolve;
      });
      updateContext();
      const args = [left?.uri ?? old, review.uri, title];
      review.reveal = (options) =>
        vscode.commands.executeCommand('vscode.diff', ...args, { preview: false, ...options });
      // The user may be typing in the terminal: what is typed there must not change the proposed edit.
      await review.reveal({ preserveFocus: true });
      return decided;
    },
    /** Shows the open diff of a connection; returns whether there is one. */
    reveal(connection) {
      const review = listOpen().find((open) => open.connection === connection);
      void review?.reveal({});
      return review !== undefined;
    },
    /** Closes the diff with this title, which was answered elsewhere. */
    async close(title) {
      const matching = listOpen().filter((review) => review.title === title);
      for (const review of matching) await settle(review, ['DIFF_REJECTED', title]);
      return matching.length;
    },
    /** Closes the diffs of a connection that has ended, or all of them. */
    async closeAll(connection) {
      const matching = listOpen().filter((review) => connection === undefined || review.connection === connection);
      for (const review of matching) await settle(review, ['DIFF_REJECTED', review.title]);
      return matching.length;
    },
  };
}

module.exports = { createDiffReviews };
