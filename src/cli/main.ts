import manifest from '../../package.json' with { type: 'json' };

const args = process.argv.slice(2);

// Shell startup scripts ask for the version, so nothing else is loaded for it.
if (args.length === 1 && ['--version', '-v', '-V'].includes(args[0] ?? '')) {
  process.stdout.write(`${manifest.version}\n`);
} else {
  const { runCli } = await import('./run-cli.ts');
  await runCli(args);
}
