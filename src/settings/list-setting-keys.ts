import { SETTING_KEYS } from '../contracts/setting-keys.ts';

/** Returns the names of the keys with a trait. */
export function listSettingKeys(trait: 'isUserOnly' | 'needsApproval' | 'isHostWritable'): readonly string[] {
  const names: string[] = [];
  for (const row of SETTING_KEYS) if (row[trait] === true) names.push(row.key);
  return names;
}
