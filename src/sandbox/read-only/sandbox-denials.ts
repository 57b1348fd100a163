import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BlockedEffect } from '../../contracts/sandbox.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import type { ReadOnlySandboxPlan } from '../plan.ts';
import { isShown } from '../visible-paths.ts';

/** The context in which the output of a command is read. */
type RunContext = { readonly plan: ReadOnlySandboxPlan; readonly cwd: string };

const MAX_EFFECTS = 5;
const MAX_LINE_CHARS = 500;

/**
 * Finds what the sandbox kept a failed command from doing. Programs report it only as text: the messages of the C
 * library and of language runtimes for the errors that the sandbox causes.
 */
export function findSandboxDenials(printed: readonly string[], run: RunContext): readonly BlockedEffect[] {
  const effects = printed.flatMap((line) => parseLine(line.slice(0, MAX_LINE_CHARS), run) ?? []);
  const keys = effects.map((effect) => JSON.stringify(effect));
  return effects.filter((_, index) => keys.indexOf(keys[index] ?? '') === index).slice(0, MAX_EFFECTS);
}

const NOT_WRITABLE = /read-only file system|\bEROFS\b/i;
const NO_NETWORK =
  /network is (?:down|unreachable)|\bENET(?:DOWN|UNREACH)\b|temporary failure in name resolution|could not resolve|\bEAI_AGAIN\b|\bENOTFOUND\b|name or service not known|no such host|nodename nor servname|UnknownHostException|unable to resolve|failed to lookup address|dns error/i;
/** Servers of the host are not there: the sandbox has a network of its own. */
const NO_LOCAL_SERVER = /connection refused|\bECONNREFUSED\b|failed to connect to (?:localhost|127\.|\[?::1)/i;
const NO_SOCKET =
  /(?:socket|connect|\bbus\b|\bdial\b|daemon|server).*operation not permitted|operation not permitted.*socket|cannot connect to the docker daemon/i;
const NOT_PERMITTED = /operation not permitted|\bEPERM\b/i;
const NOT_PERMITTED_FILE = /permission denied|\bEACCES\b/i;
const NOT_FOUND =
  /no such file or directory|\bENOENT\b|not found|does not exist|permission denied|\bEACCES\b|(?:cannot|can't|could not|unable to|failed to) (?:access|find|load|open|read)\b/i;

function parseLine(line: string, run: RunContext): BlockedEffect | undefined {
  if (NOT_WRITABLE.test(line)) return { kind: 'write', ...pick('path', findPath(line, run.cwd)) };
  if (NO_NETWORK.test(line)) return { kind: 'connect', ...pick('host', findHost(line)) };
  if (NO_LOCAL_SERVER.test(line)) return { kind: 'connect', ...pick('host', findHost(line) ?? 'a local server') };
  if (NO_SOCKET.test(line)) return { kind: 'connect', host: 'a local service' };
  if (NOT_PERMITTED.test(line)) return { kind: 'other' };
  const path = NOT_FOUND.test(line) ? findPath(line, run.cwd) : undefined;
  return path !== undefined && getVisibility(path, run.plan) === 'left out' ? { kind: 'read', path } : undefined;
}

/** Names the secrets that a command met. What the line itself names was asked about before, so this needs no question. */
export function describeHidden(printed: readonly string[], { plan, cwd }: RunContext): readonly string[] {
  const paths = printed.flatMap((line) => {
    const path = NOT_PERMITTED_FILE.test(line) ? findPath(line.slice(0, MAX_LINE_CHARS), cwd) : undefined;
    return path !== undefined && getVisibility(path, plan) === 'hidden' ? [path] : [];
  });
  const [first, ...more] = [...new Set(paths)];
  if (first === undefined) return [];
  return [`[hidden in the sandbox, since it may hold secrets: ${formatFirst([first, ...more])}]`];
}

const MAX_NAMED = 3;

function formatFirst(paths: readonly string[]): string {
  const rest = paths.length - MAX_NAMED;
  return [...paths.slice(0, MAX_NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
}

const pick = <Key extends string>(key: Key, value: string | undefined) => (value === undefined ? {} : { [key]: value });

/** Finds the path that an error message names: in quotes, or before the message. */
function findPath(line: string, cwd: string): string | undefined {
  const quoted = /['"‘’`]([^'"‘’`\n]{1,300})['"‘’`]/.exec(line)?.[1];
  const absolute = /(?:^|[\s:=(])(\/[^\s:'",)]{1,300})/.exec(line)?.[1];
  const before = /(?<![^\s:])([^\s:]+): (?:read-only file system|no such file|permission denied)/i.exec(line)?.[1];
  const path = quoted !== undefined && /[/.\w]/.test(quoted) ? quoted : (before ?? absolute);
  return path === undefined ? undefined : resolve(cwd, path);
}

function findHost(line: string): string | undefined {
  const url = /\w:\/\/(?:[^\s/@]*@)?([a-z0-9.-]+(?::\d+)?)/i.exec(line)?.[1];
  const named =
    /(?:resolve(?: host(?:name)?)?:?|EAI_AGAIN|ENOTFOUND|lookup|connect to|UnknownHostException:) ['"(]?([a-z0-9-]+(?:\.[a-z0-9-]+)+)/i.exec(
      line,
    )?.[1];
  return url ?? named;
}

/** Returns whether a path is visible: `hidden` if it holds secrets, `left out` if it exists and is not in the sandbox. */
function getVisibility(path: string, plan: ReadOnlySandboxPlan): 'visible' | 'hidden' | 'left out' {
  if (plan.readable.some((folder) => isPathInside(path, folder)) || !existsSync(path)) return 'visible';
  if (!isShown(plan.visible, path)) return 'left out';
  return plan.hidden.some((folder) => isPathInside(path, folder)) ? 'hidden' : 'visible';
}
