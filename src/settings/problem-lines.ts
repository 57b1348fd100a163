import type { SettingsProblem } from '../contracts/settings.ts';

/** What is wrong with a file of a project's commands, agents, skills or styles. */
type FileProblem = { readonly path: string; readonly line?: number | undefined; readonly text: string };

/** What is wrong with settings and extensions, each with its place. */
export function problemLines(
  { problems }: { readonly problems: readonly SettingsProblem[] },
  extensions: { readonly problems: readonly FileProblem[] },
): readonly string[] {
  const at = (file: string, line: number | undefined) => (line === undefined ? file : `${file}:${line}`);
  return [
    ...problems.map(({ file, line, text }) => `${at(file, line)} ${text}`),
    ...extensions.problems.map(({ path, line, text }) => `${at(path, line)} ${text}`),
  ];
}
