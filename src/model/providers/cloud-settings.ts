import { type CloudPlatform, normalizeClaudeId, splitRegionFromModelName } from '../claude-model-ids.ts';

/** Environment variables and settings of the cloud platforms. */
export type CloudSettings = {
  readonly variables: Readonly<Record<string, string>>;
  /** Secret variables that are hidden from child processes. */
  readonly keys: Readonly<Record<string, string>>;
  /** Reads the region of the active profile from the AWS config files. */
  readonly getProfileRegion?: () => string | undefined;
  /** Command that signs in to AWS again, such as `aws sso login`. */
  readonly awsAuthRefresh?: string | undefined;
  /** Called for each line that a sign-in command prints: a URL to open, a code to enter. */
  readonly onSignIn?: ((setting: string, line: string) => void) | undefined;
  /** Command that prints AWS credentials as JSON. */
  readonly awsCredentialExport?: string | undefined;
  /** Command that signs in to Google Cloud again. */
  readonly gcpAuthRefresh?: string | undefined;
};

/** Settings without any cloud configuration. */
export const EMPTY_CLOUD_SETTINGS: CloudSettings = { variables: {}, keys: {} };

/** Returns true if a boolean variable is set; `0`, `false`, `no` and `off` count as unset. */
export function isVariableEnabled(value: string | undefined): boolean {
  return value !== undefined && !/^(?:|0|false|no|off)$/i.test(value.trim());
}

/** Returns the value of the first variable that is set and not empty. */
export function readFirstVariable({ variables, keys }: CloudSettings, ...names: readonly string[]): string | undefined {
  return names
    .map((name) => (keys[name] ?? variables[name])?.trim())
    .find((value) => value !== undefined && value !== '');
}

/** Returns the AWS region for models that name none. */
export function getDefaultAwsRegion(settings: CloudSettings): string | undefined {
  return readFirstVariable(settings, 'AWS_REGION', 'AWS_DEFAULT_REGION') ?? settings.getProfileRegion?.();
}

/** Returns the headers that authenticate to a gateway in front of the cloud. */
export function buildCloudGatewayHeaders(settings: CloudSettings): Readonly<Record<string, string>> {
  const token = readFirstVariable(settings, 'ANTHROPIC_AUTH_TOKEN');
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

const CLOUD_SWITCHES: readonly (readonly [string, CloudPlatform])[] = [
  ['CLAUDE_CODE_USE_BEDROCK', 'bedrock'],
  ['CLAUDE_CODE_USE_MANTLE', 'mantle'],
  ['CLAUDE_CODE_USE_VERTEX', 'vertex'],
  ['CLAUDE_CODE_USE_FOUNDRY', 'foundry'],
];

/** Returns the cloud that a variable selects for models named without a prefix. */
export function getDefaultCloudPlatform(settings: CloudSettings): CloudPlatform | undefined {
  return CLOUD_SWITCHES.find(([name]) => isVariableEnabled(settings.variables[name]))?.[1];
}

/** Lists the values of variables that must not be shown. */
export function listCloudSecretValues({ variables, keys }: CloudSettings): readonly string[] {
  const secretName =
    /^(?:AWS_|AZURE_|CLOUDSDK_AUTH_|GOOGLE_OAUTH_|ANTHROPIC_FOUNDRY_).*(?:KEY|SECRET|TOKEN)(?:_BEDROCK)?$/;
  const entries = Object.entries({ ...variables, ...keys });
  return entries.flatMap(([name, value]) => (secretName.test(name) && name !== 'AWS_ACCESS_KEY_ID' ? [value] : []));
}

/** Returns a message if required settings of a cloud are missing, otherwise `undefined`. Does not check credentials. */
export function explainMissingCloudSettings(
  cloud: CloudPlatform,
  settings: CloudSettings,
  region: string | undefined,
): string | undefined {
  switch (cloud) {
    case 'bedrock':
    case 'mantle': {
      const urlVariable = cloud === 'bedrock' ? 'ANTHROPIC_BEDROCK_BASE_URL' : 'ANTHROPIC_BEDROCK_MANTLE_BASE_URL';
      return (region ?? readFirstVariable(settings, urlVariable) ?? getDefaultAwsRegion(settings)) === undefined
        ? `Amazon Bedrock needs a region. Set AWS_REGION, add a region to your profile (aws configure), or put it before the model: ${cloud}/us-east-1/….`
        : undefined;
    }
    case 'foundry':
      return readFirstVariable(settings, 'ANTHROPIC_FOUNDRY_RESOURCE', 'ANTHROPIC_FOUNDRY_BASE_URL') === undefined
        ? 'Microsoft Foundry needs the name of your resource. Set ANTHROPIC_FOUNDRY_RESOURCE, or ANTHROPIC_FOUNDRY_BASE_URL for another URL.'
        : undefined;
    default:
      return undefined;
  }
}

/** Returns the Vertex region of a model: from its name, a variable for the model, or the general variable. */
export function resolveVertexRegion(settings: CloudSettings, model: string): string {
  return (
    splitRegionFromModelName(model).region ??
    readRegionVariable(settings, model) ??
    readFirstVariable(settings, 'CLOUD_ML_REGION') ??
    'global'
  );
}

/** Reads the region variable of a model: `VERTEX_REGION_CLAUDE_4_5_SONNET`, with the parts in any order. */
function readRegionVariable({ variables }: CloudSettings, model: string): string | undefined {
  const wanted = sortParts(normalizeClaudeId(model).replace(/-\d{8}$/, ''), '-');
  const name = Object.keys(variables).find(
    (variable) => variable.startsWith(REGION_PREFIX) && sortParts(variable.slice(REGION_PREFIX.length), '_') === wanted,
  );
  return name === undefined ? undefined : variables[name];
}

const REGION_PREFIX = 'VERTEX_REGION_';

function sortParts(name: string, separator: string): string {
  const parts = name.toLowerCase().split(separator);
  return parts
    .filter((part) => part !== '0')
    .toSorted()
    .join(' ');
}
