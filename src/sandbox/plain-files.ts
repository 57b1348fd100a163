import { readRegularFileSync } from '../lib/files/read-regular-file.ts';
import { redactSecrets } from '../lib/text/redact-secrets.ts';

/** Returns whether a configuration file holds no token, password or key. An unreadable one counts as secret. */
export function isPlainFile(path: string): boolean {
  try {
    const text = readRegularFileSync(path).toString('utf8');
    return redactSecrets(text) === text && !/_auth\b|authorization:|extraheader|passw(?:or)?d\s*['"(>]/i.test(text);
  } catch {
    return false;
  }
}
