import { homedir } from 'node:os';
import { join } from 'node:path';
import { readTextOrEmpty } from '../../lib/read-or-default.ts';

/**
 * Reads the region of the active profile from the AWS config files; `undefined` if there is none. As in the AWS tools,
 * the config file has precedence over the credentials file, and its sections are named `profile <name>`.
 */
export function readAwsProfileRegion(variables: Readonly<Record<string, string>>): string | undefined {
  const profile = trimOrUndefined(variables.AWS_PROFILE) ?? trimOrUndefined(variables.AWS_DEFAULT_PROFILE) ?? 'default';
  const folder = join(trimOrUndefined(variables.HOME) ?? homedir(), '.aws');
  const config = parseSections(trimOrUndefined(variables.AWS_CONFIG_FILE) ?? join(folder, 'config'));
  const credentials = parseSections(
    trimOrUndefined(variables.AWS_SHARED_CREDENTIALS_FILE) ?? join(folder, 'credentials'),
  );
  return [config.get(`profile ${profile}`), config.get(profile), credentials.get(profile)]
    .map((section) => section?.get('region'))
    .find((region) => region !== undefined && region !== '');
}

function trimOrUndefined(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function parseSections(path: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  for (const line of readTextOrEmpty(path).split(/\r?\n/)) {
    const name = /^\[\s*([^\]]*?)\s*\]/.exec(line)?.[1]?.replace(/\s+/g, ' ').replaceAll(/["']/g, '');
    if (name !== undefined) {
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
    }
    // Indented lines continue the value above and are skipped.
    const [, key, value] = /^([\w-]+)\s*=\s*(.*?)\s*(?:\s[#;].*)?$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) section.set(key, value);
  }
  return sections;
}
