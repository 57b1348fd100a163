import { join } from 'node:path';
import { compileStarPattern, openJsonStore, PERMISSION_MODES, type PermissionMode } from '@ouro-cli/ouro/commands';
import { parseRule, SANDBOX_EXCEPTION_RULE_NAME } from '@ouro-cli/ouro/sandbox';
import { z } from 'zod';
import { isSafeFolderName, validateTaskCheckout } from '../git/validate-checkout-spec.ts';
import type { BatchTaskSpec, TaskVariables } from '../store/batch.ts';

const patterns = z.array(z.string()).optional();

/** The schema of `worker.json`, which restricts the tasks of this machine. An absent key allows everything. */
const policySchema = z.strictObject({
  v: z.number().optional(),
  repositories: patterns,
  models: patterns,
  tools: patterns,
  verify: patterns,
  mode: z.enum(PERMISSION_MODES).optional(),
  env: z.array(z.string()).optional(),
  sandbox: z.boolean().optional(),
  network: z.boolean().optional(),
  minutes: z.number().positive().optional(),
  freeMegabytes: z.number().min(0).optional(),
  mirrorDays: z.number().min(0).optional(),
  mirrorGigabytes: z.number().min(0).optional(),
  leaseSeconds: z.number().min(1).max(3600).optional(),
  allowedSigners: z.string().optional(),
});

export type WorkerPolicy = z.infer<typeof policySchema>;

/** Returns the path of the policy file. */
export const getWorkerPolicyPath = (ouroHome: string): string => join(ouroHome, 'worker.json');

/** Reads the policy of this machine. Throws for an invalid file, because a worker without policy allows everything. */
export async function readWorkerPolicy(ouroHome: string): Promise<WorkerPolicy> {
  const store = openJsonStore(getWorkerPolicyPath(ouroHome), {
    empty: {},
    entryDepth: 0,
    parse: (json) => policySchema.safeParse(json),
  });
  const { value, problem } = await store.read();
  if (problem !== undefined) throw new Error(`${problem} A worker does not start without a valid policy.`);
  return value;
}

/** The permission modes from the strictest to the most permissive. */
const MODES_BY_STRICTNESS: readonly PermissionMode[] = [
  'plan',
  'default',
  'dontAsk',
  'acceptEdits',
  'bypassPermissions',
];

/** Returns why this machine must not run a task; `undefined` if it may. */
export function findPolicyViolation(
  policy: WorkerPolicy,
  task: { readonly batch: string; readonly key: string; readonly spec: BatchTaskSpec },
): string | undefined {
  const { spec } = task;
  if (!isSafeFolderName(task.batch) || !isSafeFolderName(task.key)) return 'its key is not a valid folder name';
  const problem = spec.place === undefined ? undefined : validateTaskCheckout(spec.place);
  if (problem !== undefined) return problem;
  const mode = PERMISSION_MODES.find((known) => known === spec.mode);
  if (mode === undefined)
    return `unknown mode "${spec.mode}": it was submitted by another version of ouro, or is damaged`;
  if (MODES_BY_STRICTNESS.indexOf(mode) > MODES_BY_STRICTNESS.indexOf(policy.mode ?? 'bypassPermissions'))
    return `this machine allows the mode ${policy.mode} at most, but the task needs ${mode}`;
  if (spec.place !== undefined && !isRepositoryAllowed(policy, spec.place.url))
    return `this machine does not work on ${spec.place.url}`;
  if (spec.model !== undefined && !isAllowed(policy.models, spec.model))
    return `this machine does not use ${spec.model}`;
  const malformed = [...spec.allowedTools, ...spec.disallowedTools].find((rule) => !isSingleRule(rule));
  if (malformed !== undefined) return `"${malformed}" is not a permission rule`;
  const tool = spec.allowedTools.find((rule) => !isToolAllowed(policy, spec, rule));
  if (tool !== undefined) return `this machine does not allow ${tool}`;
  const variable = listTaskVariables(spec).find((name) => policy.env?.includes(name) !== true);
  if (variable !== undefined)
    return `this machine does not provide the variable ${variable} (allow it under "env" in worker.json)`;
  if (spec.verify?.kind === 'command' && !isAllowed(policy.verify, spec.verify.run))
    return `this machine does not run the check "${spec.verify.run}"`;
  return undefined;
}

/** Returns whether a text is one rule. Rules are passed as arguments, where a space or comma separates them. */
function isSingleRule(text: string): boolean {
  let depth = 0;
  for (const [at, char] of [...text].entries()) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    const isEnd = at === text.length - 1;
    if (depth < 0 || (depth === 0 && !isEnd && (/[\s,]/.test(char) || char === ')'))) return false;
  }
  return depth === 0 && /^[A-Za-z]/.test(text);
}

/** A task that runs in the sandbox may leave it only if the policy names the exception, not through a pattern. */
function isToolAllowed(policy: WorkerPolicy, spec: Pick<BatchTaskSpec, 'mode'>, rule: string): boolean {
  const isException = parseRule(rule, 'allow', { source: 'session' }).tool === SANDBOX_EXCEPTION_RULE_NAME;
  const patterns =
    isException && isSandboxed(policy, spec)
      ? (policy.tools ?? []).filter((pattern) => pattern.startsWith(SANDBOX_EXCEPTION_RULE_NAME))
      : policy.tools;
  return isAllowed(patterns, rule);
}

/** Lists the variables that a task names. */
export const listTaskVariables = ({ env, secrets = [] }: TaskVariables): readonly string[] => [...env, ...secrets];

/** Three weeks: a longer timer of Node.js would fire at once. */
const MAX_MINUTES = 30_000;

/** Returns how long a task may run on this machine. */
export const getTaskTimeLimitMs = (
  { minutes = MAX_MINUTES }: WorkerPolicy,
  spec: Pick<BatchTaskSpec, 'minutes'>,
): number => Math.min(spec.minutes, minutes, MAX_MINUTES) * 60_000;

/** Returns whether this machine works on a repository. */
export const isRepositoryAllowed = ({ repositories }: WorkerPolicy, url: string): boolean =>
  isAllowed(repositories, url);

const isAllowed = (allowed: readonly string[] | undefined, text: string): boolean =>
  allowed === undefined || allowed.some((pattern) => compileStarPattern(pattern)(text));

/** Creates the managed settings for a run, which only restrict; bypass mode requires a sandbox. */
export function createTaskManagedSettings(policy: WorkerPolicy, spec: Pick<BatchTaskSpec, 'mode'>): string {
  return JSON.stringify({
    ...(isBypass(spec) ? {} : { permissions: { disableBypassPermissionsMode: 'disable' } }),
    ...(isSandboxed(policy, spec)
      ? { sandbox: { enabled: true, ...(hasNetwork(policy) ? {} : { network: false }) } }
      : {}),
  });
}

/**
 * Creates the settings of a run below the managed ones, which cannot open anything: the mirror that its clone borrows
 * objects from, the secrets that its commands may read, and the network if the policy allows it.
 */
export function createTaskRunSettings(
  policy: WorkerPolicy,
  spec: Pick<BatchTaskSpec, 'mode' | 'secrets'>,
  mirror: string | undefined,
): string {
  const allowRead = mirror === undefined ? {} : { allowRead: [mirror] };
  const allowEnv = spec.secrets === undefined ? {} : { allowEnv: spec.secrets };
  return JSON.stringify({
    sandbox: {
      ...allowRead,
      ...allowEnv,
      ...(isSandboxed(policy, spec) && hasNetwork(policy) ? { network: true } : {}),
    },
  });
}

const isBypass = ({ mode }: Pick<BatchTaskSpec, 'mode'>): boolean => mode === 'bypassPermissions';
const isSandboxed = (policy: WorkerPolicy, spec: Pick<BatchTaskSpec, 'mode'>): boolean =>
  isBypass(spec) || policy.sandbox === true;
const hasNetwork = ({ network }: WorkerPolicy): boolean => network === true;
