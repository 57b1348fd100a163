import { z } from 'zod';

/**
 * The parts of the public formats of deployments that examples may use: Compose specification, `batch/v1` of Kubernetes,
 * and units of systemd. They are strict, so that a misspelt or misplaced key is found without the tools.
 */
const text = z.string().min(1);
const count = z.int().min(0);
const composeDuration = z.string().regex(/^(?:\d+(?:us|ms|s|m|h))+$/);
const serviceName = z.string().regex(/^[\w.-]+$/);
/** Short syntax of a mount: source, absolute target, mode. */
const composeMount = z.string().regex(/^[^:]+:\/[^:]*(?::(?:ro|rw|z|Z)(?:,\w+)*)?$/);
const composePort = z.string().regex(/^(?:[\d.]+:)?(?:\d+:)?\d+(?:\/(?:tcp|udp))?$/);

const composeService = z
  .strictObject({
    image: text.optional(),
    build: text.optional(),
    command: z.union([text, z.array(text)]).optional(),
    environment: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).optional(),
    env_file: z.union([text, z.array(text)]).optional(),
    ports: z.array(composePort).optional(),
    volumes: z.array(composeMount).optional(),
    depends_on: z
      .record(
        serviceName,
        z.strictObject({
          condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']),
        }),
      )
      .optional(),
    healthcheck: z
      .strictObject({
        test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])], text),
        interval: composeDuration.optional(),
        timeout: composeDuration.optional(),
        start_period: composeDuration.optional(),
        retries: count.optional(),
      })
      .optional(),
    stop_grace_period: composeDuration.optional(),
    restart: z
      .string()
      .regex(/^(?:no|always|unless-stopped|on-failure(?::\d+)?)$/)
      .optional(),
    deploy: z.strictObject({ replicas: count.optional() }).optional(),
  })
  .refine(({ image, build }) => image !== undefined || build !== undefined, 'A service has an image or is built.');

/** A compose file whose services use only services and volumes that it declares. */
export const composeFormat = z
  .strictObject({
    services: z.record(serviceName, composeService),
    volumes: z.record(text, z.null()).optional(),
  })
  .refine(
    ({ services }) =>
      Object.values(services).every(({ depends_on = {} }) => Object.keys(depends_on).every((name) => name in services)),
    'A service depends on one that is not declared.',
  )
  .refine(
    ({ services, volumes = {} }) =>
      Object.values(services)
        .flatMap((service) => service.volumes ?? [])
        .map((mount) => mount.split(':')[0] ?? '')
        .every((source) => /^[./~]/.test(source) || source in volumes),
    'A service mounts a volume that is not declared.',
  );

/** A DNS label, which names of objects have to be. */
const label = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
const quantity = z.string().regex(/^\d+(?:\.\d+)?(?:m|k|Ki|M|Mi|G|Gi|T|Ti)?$/);
const resources = z.strictObject({ cpu: quantity.optional(), memory: quantity.optional() });

const container = z.strictObject({
  name: label,
  image: text,
  command: z.array(text).optional(),
  args: z.array(text).optional(),
  env: z.array(z.strictObject({ name: text, value: z.string() })).optional(),
  envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name: label }) })).optional(),
  volumeMounts: z
    .array(
      z.strictObject({
        name: label,
        mountPath: z.string().regex(/^\/[^:]*$/),
        subPath: z.string().regex(/^[^/]/).optional(),
        readOnly: z.boolean().optional(),
      }),
    )
    .optional(),
  resources: z.strictObject({ requests: resources.optional(), limits: resources.optional() }).optional(),
});

const podSpec = z
  .strictObject({
    // A Job does not take "Always".
    restartPolicy: z.enum(['OnFailure', 'Never']),
    terminationGracePeriodSeconds: count.optional(),
    containers: z.array(container).min(1),
    volumes: z.array(z.strictObject({ name: label, configMap: z.strictObject({ name: label }) })).optional(),
  })
  .refine(({ containers, volumes = [] }) => {
    const names = new Set(volumes.map(({ name }) => name));
    return containers.every(({ volumeMounts = [] }) => volumeMounts.every(({ name }) => names.has(name)));
  }, 'A container mounts a volume that is not declared.');

/** A Job of Kubernetes. */
export const jobFormat = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  metadata: z.strictObject({ name: label, namespace: label.optional(), labels: z.record(text, text).optional() }),
  spec: z.strictObject({
    parallelism: count.optional(),
    completions: count.optional(),
    backoffLimit: count.optional(),
    activeDeadlineSeconds: count.optional(),
    ttlSecondsAfterFinished: count.optional(),
    template: z.strictObject({ spec: podSpec }),
  }),
});

const seconds = z.string().regex(/^(?:\d+(?:us|ms|s|min|h)?|infinity)$/);
const exitCodes = z.string().regex(/^(?:\d{1,3}|SIG[A-Z]+)(?: (?:\d{1,3}|SIG[A-Z]+))*$/);

/** A unit of systemd for a service, by sections and directives. */
export const unitFormat = z.strictObject({
  Unit: z.strictObject({ Description: text, After: text.optional(), Wants: text.optional() }),
  Service: z.strictObject({
    EnvironmentFile: z.string().regex(/^-?(?:\/|%h\/)/),
    // Without a shell, the program has to be an absolute path.
    ExecStart: z.string().regex(/^\/\S+/),
    KillMode: z.enum(['control-group', 'mixed', 'process', 'none']),
    TimeoutStopSec: seconds,
    SuccessExitStatus: exitCodes,
    Restart: z.enum(['no', 'always', 'on-success', 'on-failure', 'on-abnormal', 'on-abort', 'on-watchdog']),
    RestartPreventExitStatus: exitCodes,
    RestartSec: seconds,
  }),
  Install: z.strictObject({ WantedBy: z.string().regex(/^[\w@.-]+\.(?:target|service)$/) }),
});

/** Parses the sections of a unit file. Throws for a line that is none of its format. */
export function parseUnit(source: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const sections: Record<string, Record<string, string>> = {};
  let section: Record<string, string> | undefined;
  for (const line of source.split('\n').map((raw) => raw.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      section = {};
      sections[name] = section;
    } else if (section !== undefined && key !== undefined) section[key] = value ?? '';
    else throw new Error(`"${line}" is neither a section nor a directive.`);
  }
  return sections;
}

const url = z.url({ protocol: /^https$/ });
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const scoopArchitecture = z.strictObject({ url, hash: sha256 });

/** The part of Scoop's manifest (schema.json of ScoopInstaller/Scoop) that ours uses. */
export const scoopFormat = z.strictObject({
  version: z.string().regex(/^[\w.+-]+$/),
  description: text,
  homepage: url,
  license: text,
  architecture: z.strictObject({ '64bit': scoopArchitecture, arm64: scoopArchitecture }),
  bin: text,
  checkver: z.strictObject({ github: url }),
});

/** The part of a feature's metadata (devContainerFeature.schema.json) that ours uses. */
export const featureFormat = z.strictObject({
  id: z.string().regex(/^[a-z][\w-]*$/),
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  name: text,
  description: text.optional(),
  documentationURL: url.optional(),
  licenseURL: url.optional(),
  options: z
    .record(
      text,
      z.strictObject({
        type: z.literal('string'),
        proposals: z.array(text),
        default: text,
        description: text.optional(),
      }),
    )
    .optional(),
  installsAfter: z.array(text).optional(),
});

const access = z.enum(['read', 'write', 'none']);
const permissionsOfWorkflow = z.partialRecord(
  z.enum(['attestations', 'contents', 'id-token', 'issues', 'packages', 'pull-requests']),
  access,
);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const variables = z.record(text, scalar);
const step = z
  .strictObject({
    name: text.optional(),
    if: text.optional(),
    uses: z
      .string()
      .regex(/^[\w-]+\/[\w./-]+@\S+$/)
      .optional(),
    with: variables.optional(),
    run: text.optional(),
    shell: z.enum(['bash', 'pwsh', 'sh']).optional(),
    env: variables.optional(),
  })
  .refine(({ uses, run }) => (uses === undefined) !== (run === undefined), 'A step either uses an action or runs.');

const job = z.strictObject({
  needs: z.union([text, z.array(text)]).optional(),
  if: text.optional(),
  'runs-on': text,
  'timeout-minutes': count.optional(),
  permissions: permissionsOfWorkflow.optional(),
  strategy: z
    .strictObject({
      'fail-fast': z.boolean().optional(),
      matrix: z.looseObject({ include: z.array(z.record(text, scalar)).optional() }),
    })
    .optional(),
  defaults: z.strictObject({ run: z.strictObject({ shell: text }) }).optional(),
  env: variables.optional(),
  steps: z.array(step).min(1),
});

/** The part of a workflow of GitHub Actions (github-workflow.json of SchemaStore) that ours use. */
export const workflowFormat = z.strictObject({
  name: text,
  on: z.partialRecord(
    z.enum(['push', 'pull_request', 'schedule', 'workflow_dispatch']),
    z.union([
      z.null(),
      z.strictObject({ branches: z.array(text).optional(), tags: z.array(text).optional() }),
      z.array(z.strictObject({ cron: text })),
    ]),
  ),
  permissions: permissionsOfWorkflow,
  concurrency: z.strictObject({ group: text, 'cancel-in-progress': z.boolean().optional() }).optional(),
  jobs: z.record(z.string().regex(/^[A-Za-z_][\w-]*$/), job),
});

type DockerStage = { readonly from: string; readonly name: string; readonly lines: readonly string[] };

/** Reads the stages of a Dockerfile. Throws for an instruction that ours do not use. */
export function readDockerfile(source: string): readonly DockerStage[] {
  const stages: { from: string; name: string; lines: string[] }[] = [];
  const lines = source.replace(/\\\n\s*/g, '').split('\n');
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    const [, from, name] = /^FROM (\S+)(?: AS (\S+))?$/.exec(line) ?? [];
    if (from !== undefined) stages.push({ from, name: name ?? '', lines: [] });
    else if (/^(?:ADD|COPY|RUN|USER|WORKDIR|ENTRYPOINT) \S/.test(line)) stages.at(-1)?.lines.push(line);
    else throw new Error(`"${line}" is no instruction that is expected here.`);
  }
  return stages;
}
