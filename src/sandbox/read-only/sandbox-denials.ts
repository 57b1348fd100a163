import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BlockedEffect } from '../../contracts/permission.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import type { ReadOnlySandboxPlan } from '../plan.ts';

/** The context in which the output of a failed command is read. */
type FailedCommand = { readonly plan: ReadOnlySandboxPlan; readonly cwd: string };

const MAX_EFFECTS = 5;
const MAX_LINE_CHARS = 500;

/**
 * Finds what the sandbox kept a failed command from doing. Programs report it only as text: the messages of the C
 * library and of language runtimes for the errors that the sandbox causes.
 */
export function findSandboxDenials(printed: readonly string[], failed: FailedCommand): readonly BlockedEffect[] {
  const effects = printed.flatMap((line) => parseLine(line.slice(0, MAX_LINE_CHARS), failed) ?? []);
  const keys = effects.map((effect) => JSON.stringify(effect));
  return effects.filter((_, index) => keys.indexOf(keys[index] ?? '') === index).slice(0, MAX_EFFECTS);
}

const NOT_WRITABLE = /read-only file system|\bEROFS\b/i;
const NO_NETWORK =
  /network is (?:down|unreachable)|\bENET(?:DOWN|UNREACH)\b|temporary failure in name resolution|could not resolve|\bEAI_AGAIN\b|\bENOTFOUND\b|name or service not known|no such host|nodename nor servname|UnknownHostException|unable to resolve|failed to lookup address|dns error/i;
const NO_SOCKET =
  /(?:socket|connect|\bbus\b|\bdial\b|daemon|server).*operation not permitted|operation not permitted.*socket|cannot connect to the docker daemon/i;
const NOT_PERMITTED = /operation not permitted|\bEPERM\b/i;
const NOT_FOUND =
  /no such file or directory|\bENOENT\b|cannot access|not found|does not exist|permission denied|\bEACCES\b/i;

function parseLine(line: string, failed: FailedCommand): BlockedEffect | undefined {
  if (NOT_WRITABLE.test(line)) return { kind: 'write', ...pick('path', findPath(line, failed.cwd)) };
  if (NO_NETWORK.test(line)) return { kind: 'connect', ...pick('host', findHost(line)) };
  if (NO_SOCKET.test(line)) return { kind: 'connect', host: 'a local service' };
  if (NOT_PERMITTED.test(line)) return { kind: 'other' };
  const path = NOT_FOUND.test(line) ? findPath(line, failed.cwd) : undefined;
  return path !== undefined && isHidden(path, failed.plan) ? { kind: 'read', path } : undefined;
}

const pick = <Key extends string>(key: Key, value: string | undefined) => (value === undefined ? {} : { [key]: value });

/** Finds the path that an error message names: in quotes, or before the message. */
function findPath(line: string, cwd: string): string | undefined {
  const quoted = /['"‘’`]([^'"‘’`\n]{1,300})['"‘’`]/.exec(line)?.[1];
  const absolute = /(?:^|[\s:=(])(\/[^\s:'",)]{1,300})/.exec(line)?.[1];
  const before = /([^\s:]{1,300}): (?:read-only file system|no such file|permission denied)/i.exec(line)?.[1];
  const path = quoted !== undefined && /[/.\w]/.test(quoted) ? quoted : (before ?? absolute);
  return path === undefined ? undefined : resolve(cwd, path);
}

function findHost(line: string): string | undefined {
  const url = /\b[a-z][a-z0-9+.-]*:\/\/(?:[^\s/@]*@)?([a-z0-9.-]+(?::\d+)?)/i.exec(line)?.[1];
  const named =
    /(?:resolve(?: host(?:name)?)?:?|EAI_AGAIN|ENOTFOUND|lookup|connect to|UnknownHostException:) ['"(]?([a-z0-9-]+(?:\.[a-z0-9-]+)+)/i.exec(
      line,
    )?.[1];
  return url ?? named;
}

/** Returns whether a path exists and is hidden in the sandbox. */
function isHidden(path: string, { hiddenHome, hidden, visible }: ReadOnlySandboxPlan): boolean {
  const isCovered = [...hiddenHome, ...hidden, '/tmp', '/run'].some((folder) => isPathInside(path, folder));
  return isCovered && !visible.some((folder) => isPathInside(path, folder)) && existsSync(path);
}
