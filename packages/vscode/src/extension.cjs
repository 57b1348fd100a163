'use strict';
const vscode = require('vscode');
const { createDiffReviews } = require('./diff-reviews.cjs');
const { createEditorTools, describeSelection } = require('./editor-tools.cjs');
const { startLinkServer } = require('./link-server.cjs');
const { createQuestionsView, createSessionsView } = require('./session-views.cjs');

const SELECTION_DELAY_MS = 100;
const TERMINAL = 'ouro';

/**
 * Starts the link, the commands and the views. The extension has no dependencies and needs no bundler: VS Code runs
 * these files as they are.
 */
async function activate(context) {
  const { subscriptions } = context;
  const reviews = createDiffReviews(subscriptions);
  const questions = createQuestionsView(subscriptions);
  const getCommand = () => vscode.workspace.getConfiguration('ouro').get('command', 'ouro');
  const getFolder = () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const sessions = createSessionsView(subscriptions, { getCommand, getFolder });
  const server = await startLinkServer({
    name: vscode.env.appName,
    version: context.extension.packageJSON.version,
    tools: createEditorTools({
      reviews,
      onSessionState(connection, state) {
        questions.update(connection, state);
        sessions.refresh();
      },
    }),
    getFolders: () => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
    onDisconnect(connection) {
      questions.remove(connection);
      sessions.refresh();
      void reviews.closeAll(connection);
    },
  });
  const variables = { CLAUDE_CODE_SSE_PORT: String(server.port), ENABLE_IDE_INTEGRATION: 'true' };
  context.environmentVariableCollection.persistent = false;
  for (const [name, value] of Object.entries(variables)) context.environmentVariableCollection.replace(name, value);

  let timer;
  const sendSelection = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const selection = describeSelection(vscode.window.activeTextEditor);
      if (selection !== undefined) server.notify('selection_changed', selection);
    }, SELECTION_DELAY_MS);
  };

  function openTerminal(args) {
    const terminal = vscode.window.createTerminal({
      name: TERMINAL,
      iconPath: new vscode.ThemeIcon('comment-discussion'),
      env: variables,
      ...(getFolder() === undefined ? {} : { cwd: getFolder() }),
      location: { viewColumn: vscode.ViewColumn.Beside },
    });
    terminal.show();
    terminal.sendText([quoteWord(getCommand()), ...args.map(quoteWord)].join(' '));
  }

  subscriptions.push(
    new vscode.Disposable(() => {
      clearTimeout(timer);
      server.close();
    }),
    vscode.window.onDidChangeTextEditorSelection(sendSelection),
    vscode.window.onDidChangeActiveTextEditor(sendSelection),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      server.writeLock();
      sessions.refresh();
    }),
    vscode.commands.registerCommand('ouro.open', async () => {
      const shellPids = questions.listShellPids();
      const open = findOuroTerminal() ?? (shellPids.length === 0 ? undefined : await findTerminal(shellPids));
      if (open === undefined) openTerminal([]);
      else open.show();
    }),
    vscode.commands.registerCommand('ouro.showQuestion', async ({ connection, shellPid }) => {
      if (!reviews.reveal(connection)) ((await findTerminal([shellPid])) ?? findOuroTerminal())?.show();
    }),
    vscode.commands.registerCommand('ouro.resumeSession', ({ id }) => openTerminal(['--resume', id])),
    vscode.commands.registerCommand('ouro.refreshSessions', sessions.refresh),
    vscode.commands.registerCommand('ouro.mention', () => {
      const chosen = describeSelection(vscode.window.activeTextEditor);
      if (chosen === undefined) return;
      if (!server.isConnected())
        return void vscode.window.showInformationMessage('ouro is not connected: run "ouro: Open in a Terminal".');
      const { filePath, selection } = chosen;
      const last =
        selection.end.character === 0 && selection.end.line > selection.start.line
          ? selection.end.line - 1
          : selection.end.line;
      const lines = selection.isEmpty ? {} : { lineStart: selection.start.line, lineEnd: last };
      server.notify('at_mentioned', { filePath, ...lines });
    }),
  );
}

const listTerminals = () => vscode.window.terminals.filter(({ exitStatus }) => exitStatus === undefined);

/** Finds a terminal that was opened for ouro. */
const findOuroTerminal = () => listTerminals().find(({ name }) => name === TERMINAL);

/** Finds the terminal of one of these shells. The user can have started ouro in it, and a reload changes its name. */
async function findTerminal(shellPids) {
  const terminals = listTerminals();
  const pids = await Promise.all(terminals.map(({ processId }) => processId));
  return terminals.find((_, index) => shellPids.includes(pids[index]));
}

/** Quotes a word of a command line for the shells of terminals, where it is not plain. */
function quoteWord(word) {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word}"`;
}

module.exports = { activate, deactivate: () => undefined };
