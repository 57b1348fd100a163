import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_FLAGS, readEnvironment, SUBCOMMANDS, WORKER_FLAGS } from '@ouro-cli/ouro/commands';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseTaskFile } from '../src/tasks/task-file.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
const PAGE = readFileSync(join(DOCS, 'fleet.md'), 'utf8');
const EXAMPLES = readdirSync(join(DOCS, 'examples/fleet'));
const exampleText = (name: string) => readFileSync(join(DOCS, 'examples/fleet', name), 'utf8');

test('the task file of the page is valid', () => {
  const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(PAGE) ?? [];
  const read = parseTaskFile(text, 'fleet.yaml');
  expect('file' in read && read.file).toMatchObject({ name: 'react-20', limits: { each: 2, all: 60, at_once: 8 } });
});

const TEXTS = [['fleet.md', PAGE] as const, ...EXAMPLES.map((name) => [name, exampleText(name)] as const)];

test.each(TEXTS)('every flag and verb in %s exists', (_, text) => {
  const known = { batch: BATCH_FLAGS, worker: WORKER_FLAGS };
  const commands = [...text.matchAll(/ouro (batch|worker)\b([^\n"`#;]*(?:"[^"\n]*"[^\n"`#;]*)*)/g)];
  expect(commands.length).toBeGreaterThan(0);
  for (const [, name = '', rest = ''] of commands) {
    const command = name === 'batch' ? 'batch' : 'worker';
    const names = Object.values(known[command]).flatMap((flag) => flag.syntax.match(/--?[a-zA-Z][\w-]*/g) ?? []);
    const used = rest.replaceAll(/"[^"]*"|'[^']*'/g, 'words').match(/(?<=\s)--?[a-zA-Z][\w-]*/g) ?? [];
    expect(used.filter((flag) => !names.includes(flag))).toEqual([]);
    const [verb] = /^ [a-z]+/.exec(rest) ?? [];
    const { batch, worker } = SUBCOMMANDS;
    const verbs = command === 'batch' ? batch.choices : Object.keys(worker.operands);
    if (verb !== undefined && !rest.startsWith(' words')) expect(verbs).toContain(verb.trim());
  }
});

test.each(EXAMPLES)('%s starts a worker, contains no secret, and uses variables that are read', (name) => {
  const text = exampleText(name);
  expect(text).toMatch(/ouro worker (?:-j|--until-empty)/);
  expect(text).not.toMatch(/sk-|:\/\/[^\s/]+:[^\s@$…]+@/);
  const named = new Set(text.match(/\b(?:OURO|ANTHROPIC|PG)[A-Z_]*\b/g));
  const read = Object.keys(readEnvironment({ OURO_QUEUE: 'x', ANTHROPIC_API_KEY: 'x' }).keys);
  // The driver of Postgres reads its own.
  expect([...named].filter((one) => ![...read, 'PGPASSWORD', 'PG'].includes(one))).toEqual([]);
});

const compose = z.object({
  services: z.object({
    queue: z.object({
      environment: z.object({ POSTGRES_USER: z.string(), POSTGRES_DB: z.string() }),
      healthcheck: z.object({}),
    }),
    worker: z.object({
      depends_on: z.object({ queue: z.object({ condition: z.literal('service_healthy') }) }),
      environment: z.object({ OURO_QUEUE: z.string(), PGPASSWORD: z.string(), ANTHROPIC_API_KEY: z.string() }),
      stop_grace_period: z.literal('20s'),
      deploy: z.object({ replicas: z.literal(2) }),
    }),
  }),
});

test('the workers of the compose file reach its queue, and have enough time to stop', () => {
  const { services } = compose.parse(parse(exampleText('compose.yaml')));
  const { POSTGRES_USER: user, POSTGRES_DB: database } = services.queue.environment;
  expect(services.worker.environment.OURO_QUEUE).toBe(`postgres://${user}@queue/${database}`);
});

const job = z.object({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  spec: z.object({
    parallelism: z.literal(10),
    completions: z.literal(10),
    template: z.object({
      spec: z.object({
        restartPolicy: z.literal('OnFailure'),
        terminationGracePeriodSeconds: z.literal(20),
        containers: z.tuple([
          z.object({ volumeMounts: z.tuple([z.object({ name: z.string(), mountPath: z.string() })]) }),
        ]),
        volumes: z.tuple([z.object({ name: z.string() })]),
      }),
    }),
  }),
});

test('the Kubernetes Job mounts the policy where a worker reads it', () => {
  const { containers, volumes } = job.parse(parse(exampleText('job.yaml'))).spec.template.spec;
  expect(containers[0].volumeMounts[0]).toEqual({ name: volumes[0].name, mountPath: '/root/.ouro/worker.json' });
});

test('systemd knows the exit codes of a worker', () => {
  const lines = exampleText('ouro-worker.service').split('\n');
  for (const line of ['SuccessExitStatus=143', 'RestartPreventExitStatus=4', 'Restart=on-failure', 'TimeoutStopSec=20'])
    expect(lines).toContain(line);
});
