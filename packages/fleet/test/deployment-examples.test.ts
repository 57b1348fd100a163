import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { composeFormat, jobFormat, parseUnit, unitFormat } from '../../../test/support/deployment-formats.ts';

const EXAMPLES = join(import.meta.dirname, '../../../docs/examples/fleet');
const readExample = (name: string) => readFileSync(join(EXAMPLES, name), 'utf8');

const FORMATS = {
  'compose.yaml': (source: string) => composeFormat.safeParse(parse(source)).success,
  'job.yaml': (source: string) => jobFormat.safeParse(parse(source)).success,
  'ouro-worker.service': (source: string) => unitFormat.safeParse(parseUnit(source)).success,
};

test.each(['compose.yaml', 'job.yaml', 'ouro-worker.service'] as const)('%s has the format of its tool', (name) => {
  expect(FORMATS[name](readExample(name))).toBe(true);
});

test.each([
  ['compose.yaml', 'stop_grace_period: 20s', 'stop_grace_period: 20 seconds'],
  ['compose.yaml', 'stop_grace_period:', 'stop_grace_periods:'],
  ['compose.yaml', 'restart: on-failure', 'restart: on-error'],
  ['compose.yaml', 'condition: service_healthy', 'condition: healthy'],
  ['compose.yaml', 'queue: { condition', 'database: { condition'],
  ['compose.yaml', '"queue:/var', '"data:/var'],
  ['compose.yaml', 'image: node:24', 'images: node:24'],
  ['job.yaml', 'apiVersion: batch/v1', 'apiVersion: batch/v1beta1'],
  ['job.yaml', 'restartPolicy: OnFailure', 'restartPolicy: Always'],
  ['job.yaml', 'backoffLimit: 20', 'backoffLimits: 20'],
  ['job.yaml', 'memory: 4Gi', 'memory: 4GB'],
  ['job.yaml', 'name: ouro-workers', 'name: Ouro_Workers'],
  ['job.yaml', '- name: policy', '- name: rules'],
  ['job.yaml', 'cpu: "1"', 'cpu: 1.5 cores'],
  ['ouro-worker.service', 'KillMode=mixed', 'KillMode=all'],
  ['ouro-worker.service', 'ExecStart=/usr/bin/env ouro', 'ExecStart=ouro'],
  ['ouro-worker.service', 'TimeoutStopSec=20', 'TimeoutStopSecs=20'],
  ['ouro-worker.service', 'Restart=on-failure', 'Restart=onfailure'],
  ['ouro-worker.service', '[Install]', '[Installation]'],
] as const)('%s with "%s" as "%s" has not', (name, from, to) => {
  const source = readExample(name);
  expect(source).toContain(from);
  expect(FORMATS[name](source.replace(from, to))).toBe(false);
});
