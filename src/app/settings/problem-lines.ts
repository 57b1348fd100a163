import type { LoadedSettings } from '../../contracts/settings.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';

/** What is wrong with settings and extensions, each with its place. */
export function problemLines(
  { problems }: Pick<LoadedSettings, 'problems'>,
  extensions: Pick<Extensions, 'problems'>,
): readonly string[] {
  const at = (file: string, line: number | undefined) => (line === undefined ? file : `${file}:${line}`);
  return [
    ...problems.map(({ file, line, text }) => `${at(file, line)} ${text}`),
    ...extensions.problems.map(({ path, line, text }) => `${at(path, line)} ${text}`),
  ];
}
