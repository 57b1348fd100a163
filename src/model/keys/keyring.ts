import { type ProgramEnd, runProgram } from '../../lib/processes/run-program.ts';

/** The keyring of the system, for keys that should not stand in a file. */
export type Keyring = {
  /** What people call it. */
  readonly label: string;
  /** False where it does not take the key: it is locked, or nobody serves it. */
  store(name: string, key: string): Promise<boolean>;
  lookUp(name: string): Promise<string | undefined>;
  forget(name: string): Promise<boolean>;
};

type Surroundings = {
  readonly variables: Readonly<Record<string, string>>;
  readonly ouroHome: string;
  readonly platform?: NodeJS.Platform;
};

/** Somebody may have to unlock it meanwhile. */
const TIMEOUT_MS = 60_000;

/** The keyring that can be reached from here; `undefined` where there is none, as over ssh. */
export function openKeyring({ variables, ouroHome, platform = process.platform }: Surroundings): Keyring | undefined {
  const run = (file: string, args: readonly string[], input = '') =>
    runProgram(file, args, { env: variables, input, timeoutMs: TIMEOUT_MS, killSignal: 'SIGKILL' });
  // Two homes on one machine have keys of their own.
  const service = `ouro ${ouroHome}`;
  if (platform === 'darwin') return keychain(run, service);
  const isServed = variables.DBUS_SESSION_BUS_ADDRESS !== undefined;
  return platform === 'linux' && isServed ? secretService(run, service) : undefined;
}

type Run = (file: string, args: readonly string[], input?: string) => Promise<ProgramEnd>;

/** Keys travel on standard input: everybody can see arguments. */
function secretService(run: Run, service: string): Keyring {
  const place = (name: string) => ['service', service, 'account', name];
  return {
    label: 'the keyring of this system',
    async store(name, key) {
      const end = await run('secret-tool', ['store', '--label', `ouro: key of ${name}`, ...place(name)], key);
      return end.code === 0;
    },
    lookUp: async (name) => found(await run('secret-tool', ['lookup', ...place(name)])),
    forget: async (name) => (await run('secret-tool', ['clear', ...place(name)])).code === 0,
  };
}

function keychain(run: Run, service: string): Keyring {
  const place = (name: string) => ['-s', service, '-a', name];
  const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  const lookUp = async (name: string) => found(await run('security', ['find-generic-password', ...place(name), '-w']));
  return {
    label: 'the keychain of this Mac',
    async store(name, key) {
      const line = ['add-generic-password', '-U', ...place(name).map(quoted), '-w', quoted(key)].join(' ');
      const end = await run('security', ['-i'], `${line}\n`);
      return end.code === 0 && (await lookUp(name)) === key;
    },
    lookUp,
    forget: async (name) => (await run('security', ['delete-generic-password', ...place(name)])).code === 0,
  };
}

function found({ code, stdout }: ProgramEnd): string | undefined {
  const text = stdout.toString('utf8').trim();
  return code === 0 && text !== '' ? text : undefined;
}
