'use strict';
const vscode = require('vscode');

const SEVERITIES = ['Error', 'Warning', 'Information', 'Hint'];
const MAX_FILES = 1_000;

/** Creates the tools that ouro calls. Each returns a list of texts. */
function createEditorTools({ reviews, onSessionState }) {
  const findDocument = (path) =>
    vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
  return {
    async openFile({ filePath, startText = '', endText = '', makeFrontmost = true, preview = false }) {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(filePath));
      const selection = findSelection(document, startText, endText);
      await vscode.window.showTextDocument(document, {
        preview,
        preserveFocus: !makeFrontmost,
        ...(selection === undefined ? {} : { selection }),
      });
      return [`Opened file: ${filePath}`];
    },
    openDiff: (input, connection) => reviews.open(input, connection),
    async close_tab({ tab_name: title }) {
      await reviews.close(title);
      return ['TAB_CLOSED'];
    },
    async closeAllDiffTabs(_, connection) {
      return [`CLOSED_${await reviews.closeAll(connection)}_DIFF_TABS`];
    },
    async getDiagnostics({ uri }) {
      const wanted = uri === undefined ? undefined : toUri(uri);
      const all =
        wanted === undefined ? vscode.languages.getDiagnostics() : [[wanted, vscode.languages.getDiagnostics(wanted)]];
      const files = all
        .filter(([file, list]) => file.scheme === 'file' && list.length > 0)
        .slice(0, MAX_FILES)
        .map(([file, list]) => ({ uri: file.toString(), diagnostics: list.map(describeDiagnostic) }));
      return [JSON.stringify(files)];
    },
    async checkDocumentDirty({ filePath }) {
      const document = findDocument(filePath);
      if (document === undefined)
        return [JSON.stringify({ success: false, message: `Document not open: ${filePath}` })];
      const { isDirty, isUntitled } = document;
      return [JSON.stringify({ success: true, filePath, isDirty, isUntitled })];
    },
    async saveDocument({ filePath }) {
      const saved = await findDocument(filePath)?.save();
      return [JSON.stringify({ success: saved === true, filePath, saved: saved === true })];
    },
    async getCurrentSelection() {
      return [JSON.stringify(describeSelection(vscode.window.activeTextEditor) ?? { success: false })];
    },
    async getWorkspaceFolders() {
      const folders = (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({
        name,
        uri: uri.toString(),
        path: uri.fsPath,
      }));
      return [JSON.stringify({ success: true, folders, rootPath: folders[0]?.path })];
    },
    async setSessionState(state, connection) {
      onSessionState(connection, state);
      return ['OK'];
    },
  };
}

/** Describes what is selected in an editor of a file, for `selection_changed`. */
function describeSelection(editor) {
  if (editor?.document.uri.scheme !== 'file') return undefined;
  const { document, selection } = editor;
  return {
    text: document.getText(selection),
    filePath: document.uri.fsPath,
    fileUrl: document.uri.toString(),
    selection: {
      start: { line: selection.start.line, character: selection.start.character },
      end: { line: selection.end.line, character: selection.end.character },
      isEmpty: selection.isEmpty,
    },
  };
}

/** Finds the range from a text to a later one. */
function findSelection(document, startText, endText) {
  if (startText === '') return undefined;
  const text = document.getText();
  const start = text.indexOf(startText);
  if (start === -1) return undefined;
  const found = endText === '' ? -1 : text.indexOf(endText, start);
  const end = found === -1 ? start + startText.length : found + endText.length;
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}

function describeDiagnostic({ message, severity, range, source, code }) {
  return {
    message,
    severity: SEVERITIES[severity] ?? 'Error',
    range: {
      start: { line: range.start.line, character: range.start.character },
      end: { line: range.end.line, character: range.end.character },
    },
    source,
    code: typeof code === 'object' && code !== null ? code.value : code,
  };
}

const toUri = (text) => (text.startsWith('file:') ? vscode.Uri.parse(text) : vscode.Uri.file(text));

module.exports = { createEditorTools, describeSelection };
