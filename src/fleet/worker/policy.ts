import { join } from 'node:path';
import { z } from 'zod';
import type { TaskSpec } from '../../contracts/fleet.ts';
import { MODES, type PermissionMode } from '../../contracts/permission.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { starTest } from '../../lib/patterns/linear-match.ts';
import { isPlainName, placeProblem } from '../git/place-rules.ts';

const patterns = z.array(z.string()).optional();

/** `worker.json`: what this machine lets tasks do. A key that is absent allows what the task asks for. */
const policySchema = z.strictObject({
  v: z.number().optional(),
  repositories: patterns,
  models: patterns,
  tools: patterns,
  verify: patterns,
  mode: z.enum(MODES).optional(),
  env: z.array(z.string()).optional(),
  sandbox: z.boolean().optional(),
  network: z.boolean().optional(),
  minutes: z.number().positive().optional(),
  freeMegabytes: z.number().min(0).optional(),
  leaseSeconds: z.number().min(1).max(3600).optional(),
  allowedSigners: z.string().optional(),
});

export type Policy = z.infer<typeof policySchema>;

export const policyFile = (ouroHome: string): string => join(ouroHome, 'worker.json');

/** Reads the policy of this machine; one that cannot be read is a sentence, for a worker without it would allow all. */
export async function readPolicy(ouroHome: string): Promise<Policy> {
  const store = openJsonStore(policyFile(ouroHome), {
    empty: {},
    entryDepth: 0,
    parse: (json) => policySchema.safeParse(json),
  });
  const { value, problem } = await store.read();
  if (problem !== undefined) throw new Error(`${problem} A worker does not start without knowing what it may do.`);
  return value;
}

/** From the most careful to the least. */
const STRENGTH: readonly PermissionMode[] = ['plan', 'default', 'dontAsk', 'acceptEdits', 'bypassPermissions'];

/** Why this machine does not run a task, in a sentence. */
export function refusalOf(
  policy: Policy,
  task: { readonly batch: string; readonly key: string; readonly spec: TaskSpec },
): string | undefined {
  const { spec } = task;
  if (!isPlainName(task.batch) || !isPlainName(task.key)) return 'its name would lead out of the folder of work';
  const place = spec.place === undefined ? undefined : placeProblem(spec.place);
  if (place !== undefined) return place;
  const mode = MODES.find((one) => one === spec.mode);
  if (mode === undefined) return `there is no mode "${spec.mode}"`;
  if (STRENGTH.indexOf(mode) > STRENGTH.indexOf(policy.mode ?? 'bypassPermissions'))
    return `this machine allows at most the mode ${policy.mode}, and it asks for ${mode}`;
  if (spec.place !== undefined && !fits(policy.repositories, spec.place.url))
    return `this machine does not work on ${spec.place.url}`;
  if (spec.model !== undefined && !fits(policy.models, spec.model)) return `this machine does not use ${spec.model}`;
  const tool = spec.allowedTools.find((rule) => !fits(policy.tools, rule));
  if (tool !== undefined) return `this machine does not allow ${tool}`;
  const name = spec.env.find((one) => policy.env?.includes(one) !== true);
  if (name !== undefined)
    return `this machine does not give the variable ${name} ("env" in worker.json names those it gives)`;
  if (spec.verify?.kind === 'command' && !fits(policy.verify, spec.verify.run))
    return `this machine does not run the check "${spec.verify.run}"`;
  return undefined;
}

const fits = (allowed: readonly string[] | undefined, text: string): boolean =>
  allowed === undefined || allowed.some((pattern) => starTest(pattern)(text));

/** The policy as a run of ouro is given it: settings that only tighten. Without questions there is no sandbox to leave. */
export function managedSettings(policy: Policy, spec: Pick<TaskSpec, 'mode'>): string {
  const isBypass = spec.mode === 'bypassPermissions';
  const isBoxed = isBypass || policy.sandbox === true;
  return JSON.stringify({
    ...(isBypass ? {} : { permissions: { disableBypassPermissionsMode: 'disable' } }),
    ...(isBoxed ? { sandbox: { enabled: true, network: policy.network === true } } : {}),
  });
}
