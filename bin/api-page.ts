import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import manifest from '../packages/agent/package.json' with { type: 'json' };

const SOURCES = join(import.meta.dirname, '..', 'src', 'sdk');
const HEAD = `# The library, name by name

Made from the doc comments of the sources. \`ouro help library\` explains how the parts go together, and what of this is
promised to stay.
`;

/** The entries of the package `@ouro-cli/agent`: the path that is imported, and its source file. */
const ENTRIES = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === 'string'
    ? []
    : [
        {
          path: path.replace('.', '@ouro-cli/agent'),
          source: join(SOURCES, target.default.replace(/^.*\/(\w+)\.js$/, '$1.ts')),
        },
      ],
);

/**
 * Returns the API page of the package `@ouro-cli/agent`: each name with its comment and declaration, once, at the
 * entry with the longest path. Neither TypeDoc (TypeScript 5 to 6) nor API Extractor runs on TypeScript 7 without a
 * second compiler of 25 MB.
 */
export function renderApiPage(): string {
  const described = new Set<string>();
  const parts = ENTRIES.toSorted((a, b) => b.path.length - a.path.length || (a.path < b.path ? -1 : 1)).map(
    ({ path, source }) => {
      const names = listPublicNames(source);
      const added = names.filter(({ name }) => !described.has(name));
      for (const { name } of names) described.add(name);
      const again = names.filter((one) => !added.includes(one)).map(({ name }) => `\`${name}\``);
      const more = again.length === 0 ? '' : `\nAlso exported here: ${again.join(', ')}.\n`;
      const chapters = added.map(
        ({ name, doc, declared }) => `### ${name}\n\n${doc}\n\n\`\`\`ts\n${declared}\n\`\`\`\n`,
      );
      return `## ${path}\n${more}\n${chapters.join('\n')}`;
    },
  );
  return `${HEAD}\n${parts.join('\n')}`;
}

/** Returns the exported names without a doc comment. */
export function listUndocumentedNames(): readonly string[] {
  return ENTRIES.flatMap(({ path, source }) =>
    listPublicNames(source).flatMap(({ name, doc }) => (doc === '' ? [`${path}: ${name}`] : [])),
  );
}

/** A name that the library exports: its doc comment, and its declaration. */
type PublicName = { readonly name: string; readonly doc: string; readonly declared: string };

type Module = {
  readonly text: string;
  readonly body: ReturnType<typeof parseSync>['program']['body'];
  readonly comments: ReturnType<typeof parseSync>['comments'];
};
type Statement = Module['body'][number];

/** Returns the exports of an entry, followed to their declarations. */
function listPublicNames(entry: string): readonly PublicName[] {
  return exportsOf(entry).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Joins the signatures of an overloaded function; the last one belongs to the implementation. */
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
    return node.specifiers.map(({ local, exported }) => rename(findIn(other, nameOf(local)), nameOf(exported)));
  });
  return overloaded(found);
}

/** Declares an export under the name by which applications import it. */
function rename(found: PublicName, name: string): PublicName {
  const declared = new RegExp(`^((?:declare )?(?:function|const|class|type|interface) )${found.name}\\b`, 'gm');
  return { ...found, name, declared: found.declared.replaceAll(declared, `$1${name}`) };
}

function findIn(file: string, name: string): PublicName {
  const found = exportsOf(file).find((one) => one.name === name);
  if (found === undefined) throw new Error(`${file} exports no ${name}.`);
  return found;
}

const nameOf = (node: { readonly type: string; readonly name?: string; readonly value?: string }) =>
  node.name ?? node.value ?? '';

/** Returns the declarations of an export as they are written, without function bodies and values. */
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
