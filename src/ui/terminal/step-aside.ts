import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** So long a stop may take to reach us; without a shell that minds its jobs it never does. */
const STOP_MS = 200;

/** Stops the whole process group, as Ctrl-Z does, and resolves when it goes on. */
export async function stopUntilContinued(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('SIGCONT', resolve);
  process.kill(0, 'SIGTSTP');
  const timer = setTimeout(resolve, STOP_MS);
  await promise;
  clearTimeout(timer);
  process.off('SIGCONT', resolve);
}

/** Opens text in an editor and answers with what was saved; the terminal must be free. */
export async function editText(text: string, editor: string, name: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ouro-edit-'));
  const file = join(dir, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    const { execa } = await import('execa');
    // The setting may hold arguments (`code --wait`), so a shell reads it.
    const args = ['-c', `${editor} "$1"`, 'sh', file];
    const { exitCode: code } = await execa('/bin/sh', args, { stdio: 'inherit', reject: false });
    if (code !== 0)
      throw new Error(`The editor (${editor}) ended with ${code ?? 'a signal'}; the text stays as it was.`);
    return await readFile(file, 'utf8');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
