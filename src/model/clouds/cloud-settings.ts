import { type Cloud, claudeId, splitRegion } from '../claude-name.ts';

/** What the surroundings and the settings say about the clouds. */
export type CloudSettings = {
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that no command of anybody's gets. */
  readonly keys: Readonly<Record<string, string>>;
  /** The region that the files of AWS name for the profile in use. */
  readonly profileRegion?: () => string | undefined;
  /** A command that signs in again where the credentials of AWS lie, such as `aws sso login`. */
  readonly awsAuthRefresh?: string | undefined;
  /** Hears what a command that signs in prints while it runs: an address to open, a code to type there. */
  readonly onSignIn?: ((setting: string, line: string) => void) | undefined;
  /** A command that prints credentials of AWS as JSON. */
  readonly awsCredentialExport?: string | undefined;
  /** A command that signs in to Google Cloud again. */
  readonly gcpAuthRefresh?: string | undefined;
};

/** The surroundings say nothing. */
export const NO_CLOUDS: CloudSettings = { variables: {}, keys: {} };

/** Is a switch on? `0` and `false` switch it off, as everywhere. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(?:|0|false|no|off)$/i.test(value.trim());
}

/** The first of these variables that says something. */
export function firstOf({ variables, keys }: CloudSettings, ...names: readonly string[]): string | undefined {
  return names
    .map((name) => (keys[name] ?? variables[name])?.trim())
    .find((value) => value !== undefined && value !== '');
}

/** The region of AWS that holds where a model names none. */
export function usualAwsRegion(settings: CloudSettings): string | undefined {
  return firstOf(settings, 'AWS_REGION', 'AWS_DEFAULT_REGION') ?? settings.profileRegion?.();
}

/** What a gateway that speaks to the cloud for us is shown. */
export function gatewayIdentity(settings: CloudSettings): Readonly<Record<string, string>> {
  const token = firstOf(settings, 'ANTHROPIC_AUTH_TOKEN');
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

const SWITCHES: readonly (readonly [string, Cloud])[] = [
  ['CLAUDE_CODE_USE_BEDROCK', 'bedrock'],
  ['CLAUDE_CODE_USE_MANTLE', 'mantle'],
  ['CLAUDE_CODE_USE_VERTEX', 'vertex'],
  ['CLAUDE_CODE_USE_FOUNDRY', 'foundry'],
];

/** The cloud that models without a prefix are on, when a variable says so. */
export function usualCloud(settings: CloudSettings): Cloud | undefined {
  return SWITCHES.find(([name]) => isOn(settings.variables[name]))?.[1];
}

/** Whatever among the variables may not be shown. */
export function cloudSecrets({ variables, keys }: CloudSettings): readonly string[] {
  const secret = /^(?:AWS_|AZURE_|CLOUDSDK_AUTH_|GOOGLE_OAUTH_|ANTHROPIC_FOUNDRY_).*(?:KEY|SECRET|TOKEN)(?:_BEDROCK)?$/;
  const all = Object.entries({ ...variables, ...keys });
  return all.flatMap(([name, value]) => (secret.test(name) && name !== 'AWS_ACCESS_KEY_ID' ? [value] : []));
}

/** What a cloud cannot be asked without; `undefined` when nothing is missing. Credentials are looked for later. */
export function cloudProblem(cloud: Cloud, settings: CloudSettings, region: string | undefined): string | undefined {
  switch (cloud) {
    case 'bedrock':
    case 'mantle': {
      const address = cloud === 'bedrock' ? 'ANTHROPIC_BEDROCK_BASE_URL' : 'ANTHROPIC_BEDROCK_MANTLE_BASE_URL';
      return (region ?? firstOf(settings, address) ?? usualAwsRegion(settings)) === undefined
        ? `Amazon Bedrock needs a region. Set AWS_REGION, give your profile one (aws configure), or name it before the model: ${cloud}/us-east-1/….`
        : undefined;
    }
    case 'foundry':
      return firstOf(settings, 'ANTHROPIC_FOUNDRY_RESOURCE', 'ANTHROPIC_FOUNDRY_BASE_URL') === undefined
        ? 'Microsoft Foundry needs the name of your resource. Set ANTHROPIC_FOUNDRY_RESOURCE, or ANTHROPIC_FOUNDRY_BASE_URL for another address.'
        : undefined;
    default:
      return undefined;
  }
}

/** Where Vertex runs a model: the region in its name, that of a variable of its own, the usual one. */
export function vertexRegion(settings: CloudSettings, model: string): string {
  return (
    splitRegion(model).region ?? regionVariable(settings, model) ?? firstOf(settings, 'CLOUD_ML_REGION') ?? 'global'
  );
}

/** A model may have a region of its own: `VERTEX_REGION_CLAUDE_4_5_SONNET`, in whatever order it names the parts. */
function regionVariable({ variables }: CloudSettings, model: string): string | undefined {
  const wanted = partsOf(claudeId(model).replace(/-\d{8}$/, ''), '-');
  const name = Object.keys(variables).find(
    (one) => one.startsWith(REGION_PREFIX) && partsOf(one.slice(REGION_PREFIX.length), '_') === wanted,
  );
  return name === undefined ? undefined : variables[name];
}

const REGION_PREFIX = 'VERTEX_REGION_';

function partsOf(name: string, separator: string): string {
  const parts = name.toLowerCase().split(separator);
  return parts
    .filter((part) => part !== '0')
    .toSorted()
    .join(' ');
}
