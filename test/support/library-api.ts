import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';

/** One thing that the library exports: its name, its doc comment, and how it is declared. */
export type PublicName = { readonly name: string; readonly doc: string; readonly declared: string };

type Module = {
  readonly text: string;
  readonly body: ReturnType<typeof parseSync>['program']['body'];
  readonly comments: ReturnType<typeof parseSync>['comments'];
};
type Statement = Module['body'][number];

/** Everything an entry of the library exports, followed to where it is declared. */
export function publicNames(entry: string): readonly PublicName[] {
  return exportsOf(entry).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** One name with several signatures: the doc comment of the first, and all but the one that carries them out. */
function overloaded(names: readonly PublicName[]): readonly PublicName[] {
  return [...Map.groupBy(names, ({ name }) => name).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const signatures = [first, ...others].slice(0, Math.max(1, others.length));
    return [{ ...first, declared: signatures.map(({ declared }) => declared).join('\n') }];
  });
}

function exportsOf(file: string): readonly PublicName[] {
  const module = read(file);
  const found = module.body.flatMap((node): readonly PublicName[] => {
    if (node.type === 'ExportAllDeclaration') return exportsOf(join(dirname(file), node.source.value));
    if (node.type !== 'ExportNamedDeclaration') return [];
    if (node.source === null) return declaredIn(module, node);
    const other = join(dirname(file), node.source.value);
    return node.specifiers.map(({ local, exported }) => ({
      ...findIn(other, nameOf(local)),
      name: nameOf(exported),
    }));
  });
  return overloaded(found);
}

function findIn(file: string, name: string): PublicName {
  const found = exportsOf(file).find((one) => one.name === name);
  if (found === undefined) throw new Error(`${file} exports no ${name}.`);
  return found;
}

const nameOf = (node: { readonly type: string; readonly name?: string; readonly value?: string }) =>
  node.name ?? node.value ?? '';

/** A declaration as it is written, without what a function or a constant does inside. */
function declaredIn({ text, comments }: Module, node: Extract<Statement, { type: 'ExportNamedDeclaration' }>) {
  const { declaration } = node;
  const doc = docBefore(text, comments, node.start);
  if (declaration === null) return [];
  switch (declaration.type) {
    case 'FunctionDeclaration':
    case 'TSDeclareFunction': {
      const declared = text.slice(declaration.start, declaration.body?.start ?? declaration.end).trim();
      return [{ name: declaration.id?.name ?? '', doc, declared: declared.replace(/^async /, '') }];
    }
    case 'ClassDeclaration':
      return [
        { name: declaration.id?.name ?? '', doc, declared: text.slice(declaration.start, declaration.body.start) },
      ];
    case 'VariableDeclaration':
      return declaration.declarations.map(({ id, init }) => {
        const arrow = init?.type === 'ArrowFunctionExpression' ? init : undefined;
        const end = arrow === undefined ? id.end : arrow.body.start;
        const declared = `const ${text.slice(id.start, end)}`.replace(/\s*=>\s*$/, '').trim();
        return { name: id.type === 'Identifier' ? id.name : '', doc, declared };
      });
    case 'TSTypeAliasDeclaration':
    case 'TSInterfaceDeclaration':
      return [{ name: declaration.id.name, doc, declared: text.slice(declaration.start, declaration.end) }];
    default:
      return [];
  }
}

function docBefore(text: string, comments: Module['comments'], start: number): string {
  const before = comments.findLast(
    ({ end, type }) => end <= start && type === 'Block' && text.slice(end, start).trim() === '',
  );
  if (before === undefined || !before.value.startsWith('*')) return '';
  const lines = before.value.slice(1).split('\n');
  return lines
    .map((line) => line.trim().replace(/^\* ?/, ''))
    .join(' ')
    .trim();
}

const modules = new Map<string, Module>();

function read(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(basename(file), text);
  const module = { text, body: program.body, comments };
  modules.set(file, module);
  return module;
}
