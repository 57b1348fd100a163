import { chmodSync, lchownSync, lstatSync } from 'node:fs';
import type { FileAccess } from '../contracts/session.ts';
import { setAttributes } from '../lib/files/attributes.ts';
import { diskPath } from '../lib/files/byte-names.ts';

const ACCESS_LIST = 'system.posix_acl_access';
const GROUP_BITS = 0o070;
const SET_ID_BITS = 0o6000;

/**
 * Gives a path its owner, its attributes and its mode again, as far as they were written down. Answers what the system
 * refuses to give; then nobody may do more with the file than before.
 */
export function giveAccess(path: string, { mode, owner, attributes = {} }: FileAccess): readonly string[] {
  if (owner === undefined) {
    chmodSync(diskPath(path), mode);
    return [];
  }
  const hasOwner = giveOwner(path, owner);
  // Behind the owner, who takes capabilities with him, and before the mode.
  const refused = setAttributes(
    path,
    new Map(Object.entries(attributes).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  );
  // Where the list is missing, these bits would be the group's own and not the most that anybody in the list has.
  const withoutList = refused.includes(ACCESS_LIST) ? mode & ~GROUP_BITS : mode;
  chmodSync(diskPath(path), hasOwner ? withoutList : withoutList & ~SET_ID_BITS);
  return [...(hasOwner ? [] : [`its owner ${owner}`]), ...refused.map((name) => `its attribute ${name}`)];
}

function giveOwner(path: string, owner: string): boolean {
  const place = diskPath(path);
  const now = lstatSync(place);
  if (`${now.uid}:${now.gid}` === owner) return true;
  const [uid = now.uid, gid = now.gid] = owner.split(':').map(Number);
  try {
    lchownSync(place, uid, gid);
    return true;
  } catch {
    // Only root may give files away.
    return false;
  }
}
