import { expect, test } from 'vitest';
import { createGlobSegmentTest, isExactGlobPattern } from '../../../src/permissions/paths/folder-scan.ts';
import { getSecretPathReason, listSecretGlobs } from '../../../src/permissions/paths/secret-paths.ts';
import { makeFixture, policyFor } from '../fixture.ts';

const fixture = makeFixture();
const policy = policyFor(fixture);
const isSecret = (name: string) => {
  const path = `${fixture.ws}/config/${name}`;
  const found = { original: path, lexical: path, real: path, kind: 'file', nlink: 1 } as const;
  return getSecretPathReason(found, policy) !== undefined;
};

const SECRETS = [
  ...[
    '.env',
    '.env.local',
    '.env.production',
    'prod.env',
    'production.env',
    'secrets.env',
    'db.env',
    'secrets.json',
    'secrets.yml',
  ],
  ...[
    'secrets.yaml',
    'secret.json',
    'credentials',
    'credentials.json',
    'credentials.yml',
    'terraform.tfvars',
    'prod.auto.tfvars',
  ],
  ...[
    'prod.tfvars.json',
    'terraform.tfstate',
    'office.ovpn',
    'service-account.json',
    'service-account-prod.json',
    'service_account_key.json',
  ],
  ...[
    'serviceAccountKey.json',
    'my-app-firebase-adminsdk-x1.json',
    'gcp-key.json',
    'client_secret.json',
    'auth.json',
    'id_ed25519',
  ],
  ...[
    'server.pem',
    'server.key',
    'master.key',
    'store.jks',
    'vault.kdbx',
    'token.json',
    'Secrets.JSON',
    'PROD.ENV',
    '.npmrc',
    '.netrc',
  ],
];
const HARMLESS = [
  ...[
    '.env.example',
    'example.env',
    'sample.env',
    '.env.template',
    'environment.ts',
    'env.ts',
    'secrets.ts',
    'secrets.md',
    'auth.ts',
  ],
  ...[
    'credentials.ts',
    'package.json',
    'tsconfig.json',
    'keys.ts',
    'token.ts',
    'variables.tf',
    'account.json',
    'service.json',
    'firebase.json',
  ],
];

test('names of secret workspace files are known, in any case', () => {
  expect(SECRETS.filter((name) => !isSecret(name))).toEqual([]);
  expect(HARMLESS.filter(isSecret)).toEqual([]);
});

test('the Docker configuration is one, in any folder', () => {
  const path = `${fixture.ws}/.docker/config.json`;
  expect(
    getSecretPathReason({ original: path, lexical: path, real: path, kind: 'file', nlink: 1 }, policy),
  ).toBeDefined();
});

test('searches omit the same names', () => {
  const tests = listSecretGlobs()
    .filter((glob) => !glob.includes('/') && isExactGlobPattern(glob))
    .map(createGlobSegmentTest);
  const isExcluded = (name: string) => tests.some((matches) => matches(name));
  expect(SECRETS.filter((name) => name === name.toLowerCase() && !isExcluded(name))).toEqual([]);
});
