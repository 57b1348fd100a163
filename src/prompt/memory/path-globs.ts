/** Does a path (relative, with `/`) match one of the globs? `*.ts` matches at any depth, `{a,b}` are alternatives. */
export async function matchesGlobs(globs: readonly string[], path: string): Promise<boolean> {
  if (path === '' || path.startsWith('..')) return false;
  const { default: ignore } = await import('ignore');
  const rules = ignore({ ignorecase: false }).add(globs.flatMap(withoutBraces));
  return ignore.isPathValid(path) && rules.ignores(path);
}

function withoutBraces(glob: string): readonly string[] {
  const match = /\{([^{}]*)\}/.exec(glob);
  if (match === null) return [glob];
  const before = glob.slice(0, match.index);
  const after = glob.slice(match.index + match[0].length);
  return (match[1] ?? '').split(',').flatMap((choice) => withoutBraces(`${before}${choice.trim()}${after}`));
}
