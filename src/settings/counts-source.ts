/** Who brings settings, instructions, servers and extensions, and may be left out of a run. */
export type SettingSource = 'user' | 'project' | 'local';

/** Does what this source brings count? Where nothing is said, all do. */
export function countsSource(sources: readonly string[] | undefined, source: SettingSource): boolean {
  return sources === undefined || sources.includes(source);
}
