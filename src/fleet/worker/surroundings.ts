import type { Environment } from '../../contracts/environment.ts';
import type { TaskSpec } from '../../contracts/fleet.ts';

/** What every program needs. */
const BASE = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  'IS_SANDBOX',
];
/** How ouro itself is set up, and how it reaches its provider; it hands its keys to none of its children. */
const OURS =
  /^(?:ANTHROPIC_|OPENAI_|OURO_|OLLAMA_|AWS_|GOOGLE_|VERTEX_|BUN_|HTTPS?_PROXY$|NO_PROXY$|ALL_PROXY$|https?_proxy$|no_proxy$)/;
/** The key to the queue is a key to all workers. */
const QUEUE = /^(?:OURO_QUEUE|PG.*)$/;

/** The surroundings of ouro in a task: built from nothing, with the keys of its provider and what the task names. */
export function childVariables(
  environment: Environment,
  spec: Pick<TaskSpec, 'env'>,
): Readonly<Record<string, string>> {
  const { variables, keys } = environment;
  const isOurs = (name: string) => (BASE.includes(name) || OURS.test(name)) && !QUEUE.test(name);
  return {
    ...picked(variables, isOurs),
    ...picked(keys, (name) => !QUEUE.test(name)),
    ...picked(variables, (name) => spec.env.includes(name) && !QUEUE.test(name)),
    HOME: environment.home,
    OURO_HOME: environment.ouroHome,
  };
}

/** The surroundings of a check: no key of any provider. */
export function checkVariables(
  environment: Environment,
  spec: Pick<TaskSpec, 'env'>,
): Readonly<Record<string, string>> {
  const wanted = (name: string) => (BASE.includes(name) || spec.env.includes(name)) && !QUEUE.test(name);
  return { ...picked(environment.variables, wanted), HOME: environment.home };
}

function picked(
  variables: Readonly<Record<string, string>>,
  fits: (name: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => fits(name)));
}
