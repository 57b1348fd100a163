import { access, constants } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';

/** Programs that run the script named behind them. */
const INTERPRETERS = /^(?:.*\/)?(?:sh|bash|zsh|dash|node|bun|deno|python3?|ruby|perl)$/;
/** What only a shell can work out; such a command is not judged before it runs. */
const UNKNOWABLE = /[;&|<>`*?~]|\$\(|\n/;

/** The script a hook's command names and that is not there, or may not be executed; looks only, runs nothing. */
export async function missingScript(
  command: string,
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const [program = '', ...rest] = wordsOf(command, variables);
  if (INTERPRETERS.test(program)) {
    const [script] = rest;
    if (script === undefined || script.startsWith('-')) return undefined;
    return isThere(script, cwd, constants.R_OK);
  }
  // A bare name is looked up in PATH, which the shell does better.
  return program.includes('/') ? isThere(program, cwd, constants.X_OK) : undefined;
}

async function isThere(script: string, cwd: string, mode: number): Promise<string | undefined> {
  const path = isAbsolute(script) ? script : resolve(cwd, script);
  const there = await access(path, mode).then(
    () => true,
    () => false,
  );
  return there ? undefined : path;
}

/** The words of a simple command; none when it is more than that. */
function wordsOf(command: string, variables: Readonly<Record<string, string>>): readonly string[] {
  if (UNKNOWABLE.test(command)) return [];
  let isKnown = true;
  const words = [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\$\{?(\w+)\}?|"/g, (_, single: string | undefined, name: string | undefined) => {
      if (single !== undefined) return single;
      if (name === undefined) return '';
      const value = variables[name];
      isKnown &&= value !== undefined;
      return value ?? '';
    }),
  );
  return isKnown ? words : [];
}
