import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SAMPLE_FILES } from './sample-files.ts';

/** Writes the sample project the demo works on. Its tests fail until one line is corrected. */
export async function writeSampleProject(dir: string): Promise<void> {
  for (const [path, content] of Object.entries(SAMPLE_FILES)) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
