import manifest from '../../package.json' with { type: 'json' };
import { restartWithRuntimeSettings } from '../lib/processes/runtime-settings.ts';

const args = process.argv.slice(2);

// Shell startup scripts ask for the version, so nothing else is loaded for it.
if (args.length === 1 && ['--version', '-v', '-V'].includes(args[0] ?? '')) {
  process.stdout.write(`${manifest.version}\n`);
} else {
  // A short run would not earn back the time of the restart.
  if (process.stdin.isTTY && process.stdout.isTTY) restartWithRuntimeSettings(process);
  const { runCli } = await import('./run-cli.ts');
  await runCli(args);
}
