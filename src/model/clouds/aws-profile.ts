import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The region that the files of AWS name for the profile in use; `undefined` where they name none. As the tools of AWS
 * read them: the configuration first, then the credentials, and sections of profiles with their word before the name.
 */
export function profileRegion(variables: Readonly<Record<string, string>>): string | undefined {
  const profile = given(variables.AWS_PROFILE) ?? given(variables.AWS_DEFAULT_PROFILE) ?? 'default';
  const folder = join(given(variables.HOME) ?? homedir(), '.aws');
  const config = sectionsOf(given(variables.AWS_CONFIG_FILE) ?? join(folder, 'config'));
  const credentials = sectionsOf(given(variables.AWS_SHARED_CREDENTIALS_FILE) ?? join(folder, 'credentials'));
  return [config.get(`profile ${profile}`), config.get(profile), credentials.get(profile)]
    .map((section) => section?.get('region'))
    .find((region) => region !== undefined && region !== '');
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function sectionsOf(path: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  for (const line of textOf(path).split(/\r?\n/)) {
    const name = /^\[\s*([^\]]*?)\s*\]/.exec(line)?.[1]?.replace(/\s+/g, ' ').replaceAll(/["']/g, '');
    if (name !== undefined) {
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
    }
    // Lines that are set in belong to the value above them.
    const [, key, value] = /^([\w-]+)\s*=\s*(.*?)\s*(?:\s[#;].*)?$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) section.set(key, value);
  }
  return sections;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
