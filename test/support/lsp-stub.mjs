// A language server on pipes for a language of words: `bad` is wrong, `hmm` is doubtful, `fine` could be better,
// `use X` needs a `def X` in an open file, and `boom` ends it.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const LOG = process.env.STUB_LOG;
const documents = new Map();
let options = {};
let root = '';
let asked = 0;
let held = Buffer.alloc(0);

const send = (message) => {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};
const at = (line, character) => ({ start: { line, character }, end: { line, character: character + 1 } });

function* wordsOf(text) {
  for (const [line, words] of text.split('\n').entries())
    for (const { 0: word, index } of words.matchAll(/\S+/g)) yield { word, line, character: index, words };
}

const places = (name) =>
  [...documents].flatMap(([uri, { text }]) =>
    [...wordsOf(text)]
      .filter(({ words, word }) => word === name && words.startsWith('def '))
      .map(({ line, character }) => ({ uri, range: at(line, character) })),
  );

function diagnosticsOf(text) {
  const grades = { bad: 1, hmm: 2, fine: 4 };
  return [...wordsOf(text)].flatMap(({ word, line, character, words }) => {
    const range = at(line, character);
    if (grades[word] !== undefined)
      return [
        { range, severity: grades[word], code: word.length, source: 'words', message: `The word "${word}"\nis here.` },
      ];
    if (words.startsWith('use ') && word !== 'use' && places(word).length === 0)
      return [{ range, message: `Nobody has "${word}".` }];
    return [];
  });
}

function publish() {
  if (options.silent) return;
  if (options.floods)
    for (let at = 0; at < 20_000; at += 1)
      send({ method: 'window/logMessage', params: { message: 'x'.repeat(1_000) } });
  for (const [uri, { text, version }] of documents)
    send({
      method: 'textDocument/publishDiagnostics',
      params: { uri, ...(options.versions === false ? {} : { version }), diagnostics: diagnosticsOf(text) },
    });
}

const wordAt = ({ textDocument: { uri }, position }) =>
  [...wordsOf(documents.get(uri)?.text ?? '')].find(
    ({ line, character, word }) =>
      line === position.line && character <= position.character && position.character < character + word.length,
  )?.word;

const METHODS = {
  initialize(params) {
    options = params.initializationOptions ?? {};
    root = params.rootPath;
    if (options.refuses) throw new Error('not today');
    return { capabilities: { textDocumentSync: 1, hoverProvider: true } };
  },
  shutdown: () => null,
  'textDocument/hover': (params) => ({ contents: { kind: 'markdown', value: `**${wordAt(params)}** is a word.` } }),
  'textDocument/definition': (params) => places(wordAt(params)),
  'textDocument/references'(params) {
    const name = wordAt(params);
    const rangesIn = (text) =>
      [...wordsOf(text)].filter(({ word }) => word === name).map(({ line, character }) => at(line, character));
    const open = [...documents].flatMap(([uri, { text }]) =>
      rangesIn(text).map((range) => ({ targetUri: uri, targetSelectionRange: range })),
    );
    const closed = readdirSync(root)
      .filter((file) => file.endsWith('.word') && !documents.has(pathToFileURL(join(root, file)).href))
      .flatMap((file) =>
        rangesIn(readFileSync(join(root, file), 'utf8')).map((range) => ({
          uri: pathToFileURL(join(root, file)).href,
          range,
        })),
      );
    return [...open, ...closed];
  },
  'textDocument/documentSymbol': ({ textDocument: { uri } }) =>
    [...wordsOf(documents.get(uri)?.text ?? '')]
      .filter(({ words, word }) => words.startsWith('def ') && word !== 'def')
      .map(({ word, line, character }) => ({
        name: word,
        kind: 12,
        range: at(line, 0),
        selectionRange: at(line, character),
        children: [{ name: 'inner', kind: 13, range: at(line, 0), selectionRange: at(line, 0) }],
      })),
  'workspace/symbol': ({ query }) => places(query).map((location) => ({ name: query, kind: 12, location })),
  'textDocument/prepareCallHierarchy': (params) =>
    places(wordAt(params)).map(({ uri, range }) => ({
      name: wordAt(params),
      kind: 12,
      uri,
      range,
      selectionRange: range,
    })),
  'callHierarchy/incomingCalls': ({ item }) => [{ from: { ...item, name: `caller of ${item.name}` }, fromRanges: [] }],
  'callHierarchy/outgoingCalls': () => [],
  'textDocument/rename'({ newName, ...params }) {
    const name = wordAt(params);
    if (newName === 'file') return { documentChanges: [{ kind: 'rename' }] };
    const edits = [...documents].map(([uri, { text }]) => {
      const found = [...wordsOf(text)].filter(({ word }) => word === name);
      const ranges = found.map(({ line, character }) => ({
        start: { line, character },
        end: { line, character: character + name.length },
      }));
      return [uri, ranges.map((range) => ({ range, newText: newName }))];
    });
    return { changes: Object.fromEntries(edits) };
  },
};

const NOTICES = {
  initialized() {
    asked += 1;
    send({ id: `ask-${asked}`, method: 'workspace/configuration', params: { items: [{ section: 'words.level' }] } });
  },
  'textDocument/didOpen'({ textDocument: { uri, text, version } }) {
    documents.set(uri, { text, version });
  },
  'textDocument/didChange'({ textDocument: { uri, version }, contentChanges: [{ text }] }) {
    if (text.includes('boom')) process.exit(3);
    documents.set(uri, { text, version });
  },
  'textDocument/didClose': ({ textDocument: { uri } }) => documents.delete(uri),
  exit: () => process.exit(0),
};

function take(message) {
  const { id, method, params } = message;
  if (LOG !== undefined)
    appendFileSync(LOG, `${JSON.stringify({ method: method ?? 'answer', params, result: message.result })}\n`);
  if (id === undefined) {
    NOTICES[method]?.(params);
    if (method?.startsWith('textDocument/did')) publish();
    return;
  }
  if (method === undefined || (options.hangs && method !== 'initialize')) return;
  try {
    send({ id, result: METHODS[method](params) });
  } catch (thrown) {
    send({ id, error: { code: -32_000, message: thrown.message } });
  }
}

process.stdout.write('Words, a language server.\r\n\r\n');
process.stdin.on('data', (chunk) => {
  held = Buffer.concat([held, chunk]);
  for (let gap = held.indexOf('\r\n\r\n'); gap !== -1; gap = held.indexOf('\r\n\r\n')) {
    const length = Number(/Content-Length: (\d+)/.exec(held.subarray(0, gap).toString())[1]);
    if (held.length < gap + 4 + length) return;
    const text = held.subarray(gap + 4, gap + 4 + length).toString();
    held = held.subarray(gap + 4 + length);
    take(JSON.parse(text));
  }
});
process.stdin.on('end', () => process.exit(0));
