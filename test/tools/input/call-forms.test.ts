import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../src/contracts/json.ts';
import { findTool } from '../../../src/engine/tool-calls/find-tool.ts';
import type { ForeignToolCallForms } from '../../../src/tools/input/call-forms.ts';
import { foldArgumentName } from '../../../src/tools/input/normalize-arguments.ts';
import { TOOL_TRAITS } from '../../../src/tools/tool-traits.ts';
import { createAllTools } from './all-tools.ts';

const tools = createAllTools();

/** A valid call of each tool. */
const VALID: Readonly<Record<string, JsonObject>> = {
  ApplyPatch: { patch: '*** Begin Patch\n*** Delete File: a\n*** End Patch' },
  AskUserQuestion: { questions: [{ question: 'a?', options: [{ label: 'b' }, { label: 'c' }] }] },
  Bash: { command: 'ls' },
  BashOutput: { shell_id: 'shell_1' },
  Diagnostics: { file_path: 'a' },
  Edit: { file_path: 'a', old_string: 'b', new_string: 'c' },
  EnterPlanMode: {},
  ExitPlanMode: { plan: 'a' },
  Glob: { pattern: '*' },
  Grep: { pattern: 'a' },
  KillShell: { shell_id: 'shell_1' },
  LSP: { operation: 'hover', file_path: 'a' },
  ListMcpResources: {},
  MultiEdit: { file_path: 'a', edits: [{ old_string: 'b', new_string: 'c' }] },
  NotebookEdit: { notebook_path: 'a.ipynb', new_source: 'b' },
  Read: { file_path: 'a' },
  ReadMcpResource: { server: 'a', uri: 'b' },
  SendMessage: { to: 'a', message: 'b' },
  Skill: { name: 'a' },
  Task: { description: 'a', prompt: 'b' },
  TodoWrite: { todos: [] },
  ToolSearch: { query: 'a' },
  WebFetch: { url: 'https://example.com', prompt: 'a' },
  WebSearch: { query: 'ab' },
  Write: { file_path: 'a', content: 'b' },
};

type KnownTool = (typeof tools)[number] & { readonly forms: ForeignToolCallForms; readonly valid: JsonObject };

const known: readonly KnownTool[] = tools.flatMap((tool) => {
  const forms = TOOL_TRAITS.find(({ name }) => name === tool.name)?.forms;
  const valid = VALID[tool.name];
  return forms === undefined || valid === undefined ? [] : [{ ...tool, spec: tool.spec, forms, valid }];
});

/** All keys that some tool knows under some name, and a few that none knows. */
const everyKey = [
  ...new Set([
    ...known.flatMap(({ forms: { synonyms, conversions = {}, ignored = [] } }) => [
      ...Object.entries(synonyms).flat(2),
      ...Object.keys(conversions),
      ...ignored,
    ]),
    ...['nonsense', 'foo_bar', 'verbose', 'dry_run', 'env', 'stdin', 'user', 'priority', 'force', '-x', '-v'],
  ]),
];

test('every built tool has call forms and a valid call', () => {
  expect(known.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
});

describe.each(known)('$name', (tool) => {
  const { forms, spec, valid, prepare, name } = tool;
  const properties = isJsonObject(spec.input_schema.properties) ? Object.keys(spec.input_schema.properties) : [];
  const convertible = [...Object.keys(forms.synonyms), ...Object.keys(forms.conversions ?? {})];
  const accepted = new Set(
    [...Object.entries(forms.synonyms).flat(2), ...convertible, ...(forms.ignored ?? [])].map(foldArgumentName),
  );

  test('accepts its valid call unchanged', () => {
    expect(prepare(valid)).toMatchObject({ ok: true, call: { input: valid } });
  });

  test('lists all of its arguments in one table, and every synonym once', () => {
    expect(convertible).toEqual(expect.arrayContaining(properties));
    const folded = [...Object.entries(forms.synonyms).flat(2), ...(forms.ignored ?? [])].map(foldArgumentName);
    expect(folded.filter((key, at) => folded.indexOf(key) !== at)).toEqual([]);
  });

  test('refuses every other argument by name, and lists the valid ones', () => {
    const takes = properties.length === 0 ? 'no arguments' : '';
    const silent = everyKey.filter((key) => {
      if (accepted.has(foldArgumentName(key))) return false;
      const prepared = prepare({ ...valid, [key]: 'x' });
      return prepared.ok || !prepared.problem.includes(`${name} has no "${key}"; it takes ${takes}`);
    });
    expect(silent).toEqual([]);
  });

  test('accepts arguments without meaning here, without passing them on', () => {
    const given = Object.fromEntries((forms.ignored ?? []).map((key) => [key, 'x']));
    expect(prepare({ ...valid, ...given })).toMatchObject({ ok: true, call: { input: valid } });
  });

  test('is found by its name in any case', () => {
    for (const written of [name, name.toLowerCase(), name.toUpperCase(), `functions.${name}`])
      expect(findTool({ name: written, input: valid }, tools)?.name).toBe(name);
  });
});

test('no name means two tools, or is that of another tool', () => {
  const names = known.flatMap(({ name, aliases, forms }) =>
    [name, ...aliases, ...(forms.names ?? []).filter((form) => typeof form === 'string')].map((written) => ({
      name,
      folded: String(written)
        .replace(/[-_\s]/g, '')
        .toLowerCase(),
    })),
  );
  const twice = names.filter(({ name, folded }) =>
    names.some((other) => other.folded === folded && other.name !== name),
  );
  expect(twice).toEqual([]);
});

test('a tool of a server or an application keeps its name, whatever names built-in tools accept', () => {
  const custom = { ...known[0], name: 'shell', aliases: ['read_file'], source: 'mcp' as const };
  const {
    answersTo: _,
    forms: __,
    valid: ___,
    ...server
  } = { ...custom, spec: tools[0]?.spec ?? { name: '', description: '', input_schema: {} } };
  const all = [
    ...tools,
    {
      ...server,
      label: 'shell',
      maxResultChars: 1,
      deferred: false,
      prepare: tools[0]?.prepare ?? (() => ({ ok: false as const, problem: '' })),
    },
  ];
  expect(findTool({ name: 'shell', input: { command: 'ls' } }, all)?.source).toBe('mcp');
  expect(findTool({ name: 'read_file', input: { path: 'a' } }, all)?.source).toBe('mcp');
  expect(findTool({ name: 'exec_command', input: { cmd: 'ls' } }, all)?.name).toBe('Bash');
});
