import { expect, test } from 'vitest';
import { findOperandProblem } from '../../src/cli/run-subcommand.ts';
import { listSubcommands, SUBCOMMANDS, type SubcommandName } from '../../src/command/subcommands.ts';
import { runHere } from '../support/run-here.ts';
import { createTempProject } from '../support/temp-project.ts';

const isName = (name: string): name is SubcommandName => Object.hasOwn(SUBCOMMANDS, name);

/** Each form of a subcommand that takes a limited number of arguments, with one argument more than that. */
const tooMany = Object.entries(listSubcommands()).flatMap(([name, { operands }]) => {
  const forms = typeof operands === 'object' ? Object.entries(operands) : [['', operands] as const];
  return forms.flatMap(([action, limit]) => {
    if (limit === 'any' || !isName(name)) return [];
    const words = Array.from({ length: limit + 1 }, (_, index) => `word${index}`);
    return [{ name, args: [...(action === '' ? [] : [action]), ...words] }];
  });
});

test('every action that the help names has a limit of arguments, or takes any number', () => {
  const missing = Object.entries(listSubcommands()).flatMap(([name, { choices = [], operands }]) =>
    typeof operands === 'object'
      ? choices.filter((choice) => !Object.hasOwn(operands, choice)).map((choice) => `${name} ${choice}`)
      : [],
  );
  expect(missing).toEqual([]);
});

test.each(tooMany)('ouro $name $args is refused', ({ name, args }) => {
  expect(findOperandProblem(name, args)).toContain(`Usage: ouro ${name}`);
  expect(findOperandProblem(name, args.slice(0, -1))).toBeUndefined();
});

test('an argument that a subcommand would ignore ends it with its usage before it does anything', async () => {
  await using project = await createTempProject();
  const forms = [
    ...tooMany.map(({ name, args }) => [name, ...args]),
    ['login', 'openai', 'sk-secret'],
    ['worker', 'stop'],
    ['worker', 'init', 'more'],
    ['settings', 'reset'],
    ['plugin', 'marketplace', 'list', 'more'],
    ['permissions', 'explain', '--batch', 'Bash', 'ls'],
    ['trust', '--list', 'here'],
    ['mcp', 'add', 'one', 'http://127.0.0.1:1/mcp', 'more'],
    ['undo', '--list', 'a.txt'],
    ['undo', '--redo', 'a.txt'],
    ['undo', '--redo', '--list'],
    ['undo', ''],
  ];
  const ends = [];
  for (const args of forms) {
    const { code, stdout, stderr } = await runHere(project, args);
    ends.push({ args, code, stdout, isSecret: stderr.includes('sk-secret') });
  }
  expect(ends).toEqual(forms.map((args) => ({ args, code: 2, stdout: '', isSecret: false })));
});
