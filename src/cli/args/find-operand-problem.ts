import { listSubcommands, type SubcommandName } from './subcommands.ts';

/** Returns the usage line of a subcommand if it is called with more arguments than it takes. */
export function findOperandProblem(name: SubcommandName, args: readonly string[]): string | undefined {
  const { usage, operands } = listSubcommands()[name] ?? { usage: '', operands: 0 };
  const isByAction = typeof operands === 'object';
  const [action = ''] = args;
  // A first argument that is no action is refused by the subcommand itself, with the actions it knows.
  const limit = isByAction ? (Object.hasOwn(operands, action) ? operands[action] : 'any') : operands;
  const count = isByAction ? args.length - 1 : args.length;
  if (limit === undefined || limit === 'any' || count <= limit) return undefined;
  return `Too many arguments. Usage: ouro ${name} ${usage}`.trim();
}
