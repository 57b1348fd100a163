import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAwsProfileRegion } from '../../../src/model/registry/model-config.ts';
import { createTempProject } from '../../support/temp-project.ts';

const CONFIG = `# of a person
[default]
region = us-west-2   # the usual one
output=json

[profile work]
sso_session = corp
s3 =
  region = not-this-one
region=eu-central-1
[profile "with blanks"]
region = ap-south-1
[ profile   wide ]
region = sa-east-1
[sso-session corp]
region = nowhere
[profile without]
output = text
`;

test('the region of a profile is the one AWS tools would use', async () => {
  await using project = await createTempProject();
  const HOME = project.home;
  await mkdir(join(HOME, '.aws'));
  await writeFile(join(HOME, '.aws/config'), CONFIG.replaceAll('\n', '\r\n'));
  await writeFile(join(HOME, '.aws/credentials'), '[old]\naws_access_key_id = x\nregion = eu-west-3\n');
  await writeFile(join(HOME, 'other'), '[profile work]\nregion = eu-north-1\n');
  const AWS_CONFIG_FILE = join(HOME, 'other');
  const asked: Readonly<Record<string, string>>[] = [
    {},
    { AWS_PROFILE: ' ' },
    { AWS_PROFILE: 'work' },
    { AWS_DEFAULT_PROFILE: 'work' },
    { AWS_PROFILE: 'with blanks' },
    { AWS_PROFILE: 'wide' },
    { AWS_PROFILE: 'old' },
    { AWS_PROFILE: 'work', AWS_CONFIG_FILE },
    { AWS_PROFILE: 'without' },
    { AWS_PROFILE: 'corp' },
    { AWS_CONFIG_FILE },
  ];
  expect(asked.map((more) => readAwsProfileRegion({ HOME, ...more }))).toEqual([
    'us-west-2',
    'us-west-2',
    'eu-central-1',
    'eu-central-1',
    'ap-south-1',
    'sa-east-1',
    'eu-west-3',
    'eu-north-1',
    undefined,
    undefined,
    undefined,
  ]);
});

test('without files there is no region', () => {
  expect(readAwsProfileRegion({ HOME: '/proc/nobody' })).toBeUndefined();
});
