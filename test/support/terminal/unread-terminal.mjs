// Runs a command in a terminal of 80x24 and reads what it prints: `unread-terminal.mjs <command> <arguments>`. It says
// the process id of the command and later its exit code. While this process is stopped, nobody reads the terminal.
const child = Bun.spawn(process.argv.slice(2), {
  env: process.env,
  terminal: { cols: 80, rows: 24, data: () => undefined },
});
process.stdout.write(`${child.pid}\n`);
await child.exited;
process.stdout.write(`${child.signalCode ?? child.exitCode}\n`);
process.exit(0);
