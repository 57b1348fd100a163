import manifest from '../../package.json' with { type: 'json' };

const args = process.argv.slice(2);

// Asked by scripts at every start of a shell: it must cost nothing, so nothing else is loaded.
if (args.length === 1 && ['--version', '-v', '-V'].includes(args[0] ?? '')) {
  process.stdout.write(`${manifest.version}\n`);
} else {
  const { start } = await import('./start.ts');
  await start(args);
}
