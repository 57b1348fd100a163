import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listProgramsUsingFiles } from '../../../src/tools/files/file-in-use-notices.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

test.skipIf(process.platform !== 'linux')(
  'a program that has a file open is named, also when the file was replaced',
  async () => {
    const folder = createTempFolder();
    const file = join(folder, 'log');
    await writeFile(file, 'line\n');
    const child = spawn('tail', ['-f', file], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    const other = join(folder, 'other');
    const expected = new Map([[file, [`tail (process ${child.pid})`]]]);
    expect(listProgramsUsingFiles(new Set([file, other]))).toEqual(expected);
    await writeFile(other, 'new\n');
    await rename(other, file);
    expect(listProgramsUsingFiles(new Set([file, other]))).toEqual(expected);
    child.kill();
    await once(child, 'exit');
    expect(listProgramsUsingFiles(new Set([file]))).toEqual(new Map());
  },
);
