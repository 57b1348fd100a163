import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { makeSampleRepositories } from '../../app/start/sample-repositories.ts';
import { UsageError } from '../args/usage-error.ts';
import { type BatchWish, EXIT } from './run-batch.ts';

const SHOPS = ['shop-one', 'shop-two', 'shop-three'];

/** A whole file with the model that needs no key; what people change first stands at its top. */
const TASK_FILE = `# ouro batch run fleet.yaml
name: discounts
prompt: |
  The discounts of {{repo.name}} are wrong. Find out why, and correct it.
over:
  repos: [shop-*]
model: demo            # a scripted model that costs nothing; say sonnet for a real one
mode: acceptEdits
allowedTools: ["Bash(node --test)"]
verify: { run: node --test, tries: 2 }
limits: { each: 0.50, all: 2, minutes: 10, at_once: 3 }
`;

/** `ouro batch init <dir>`: three small repositories and a task file, for a first batch without a key. */
export async function initSamples({ words: [, name, ...more], io }: BatchWish): Promise<number> {
  if (name === undefined || more.length > 0) throw new UsageError('Say where: ouro batch init <new folder>');
  const folder = resolve(io.cwd, name);
  if (existsSync(folder)) throw new UsageError(`${name} is there already. Name a folder that is not.`);
  await makeSampleRepositories(folder, SHOPS, io.environment);
  await writeFile(join(folder, 'fleet.yaml'), TASK_FILE, { flag: 'wx' });
  const file = relative(io.cwd, join(folder, 'fleet.yaml'));
  io.stdout.write(
    `${SHOPS.map((shop) => join(name, shop)).join('\n')}\n${file}\nNext: ouro batch run ${file} --dry-run\n`,
  );
  return EXIT.done;
}
