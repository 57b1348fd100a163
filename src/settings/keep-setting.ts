import { join } from 'node:path';
import type { JsonValue } from '../contracts/json.ts';
import { editJsonc } from '../lib/files/edit-jsonc.ts';

/** Writes one of the user's own settings; every other byte of the file stays. `undefined` takes it away. */
export function keepSetting(ouroHome: string, key: string, value: JsonValue | undefined): Promise<void> {
  return editJsonc(join(ouroHome, 'settings.json'), () => [{ path: [key], value }], 'follow');
}
