import { z } from 'zod';
import { messageOf } from '../../lib/errors.ts';
import { KeyUnavailable } from '../keys/key-unavailable.ts';
import { parseJson } from '../wire/wire-json.ts';
import { type CloudSettings, firstOf } from './cloud-settings.ts';
import { runRenewal, shareRenewal } from './renewal.ts';

/** Credentials that requests are signed with. */
export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

/** Where they come from, as long as ouro runs. */
export type AwsSource = {
  /** Those that are valid now: kept until shortly before they run out. Rejects with a sentence when there are none. */
  readonly credentials: () => Promise<AwsCredentials>;
  /** They were refused: is there a way to others? The next request has them. */
  readonly renew: () => Promise<boolean>;
};

/** Credentials end early enough for a request to be signed and sent. */
const EARLY_MS = 60_000;

/** The chain that the tools of AWS use, or a command that prints credentials; a second command signs in when neither has any. */
export function openAwsSource(settings: CloudSettings, now: () => number = Date.now): AwsSource {
  const { awsAuthRefresh, awsCredentialExport, variables } = settings;
  let kept: Promise<AwsCredentials> | undefined;

  const signIn = shareRenewal(async () => {
    await runRenewal('awsAuthRefresh', awsAuthRefresh ?? '', settings);
    return true;
  }, now);

  function load(): Promise<AwsCredentials> {
    return awsCredentialExport === undefined ? fromChain(settings) : exported(awsCredentialExport, variables);
  }

  async function loadOrSignIn(): Promise<AwsCredentials> {
    try {
      const found = await load();
      if (!isOver(found, now()) || awsAuthRefresh === undefined) return found;
    } catch (thrown) {
      if (awsAuthRefresh === undefined) throw thrown;
    }
    await signIn();
    return load();
  }

  return {
    async credentials() {
      kept ??= loadOrSignIn();
      const asked = kept;
      try {
        const found = await asked;
        if (!isOver(found, now())) return found;
      } catch (thrown) {
        if (kept === asked) kept = undefined;
        throw thrown;
      }
      if (kept === asked) kept = loadOrSignIn();
      return kept;
    },
    renew: shareRenewal(async () => {
      const before = await kept?.catch(() => undefined);
      if (awsAuthRefresh !== undefined) await signIn();
      kept = undefined;
      const after = await load().catch(() => undefined);
      if (after === undefined) return false;
      kept = Promise.resolve(after);
      return after.secretAccessKey !== before?.secretAccessKey || after.sessionToken !== before.sessionToken;
    }, now),
  };
}

function isOver({ expiration }: AwsCredentials, nowMs: number): boolean {
  return expiration !== undefined && expiration.getTime() - EARLY_MS <= nowMs;
}

/** What variables say, else what the files, sign-ins and machines of AWS say. */
async function fromChain(settings: CloudSettings): Promise<AwsCredentials> {
  const accessKeyId = firstOf(settings, 'AWS_ACCESS_KEY_ID');
  const secretAccessKey = firstOf(settings, 'AWS_SECRET_ACCESS_KEY');
  const sessionToken = firstOf(settings, 'AWS_SESSION_TOKEN');
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  }
  const profile = firstOf(settings, 'AWS_PROFILE', 'AWS_DEFAULT_PROFILE');
  const filepath = firstOf(settings, 'AWS_SHARED_CREDENTIALS_FILE');
  const configFilepath = firstOf(settings, 'AWS_CONFIG_FILE');
  try {
    const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
    const { FetchHttpHandler } = await import('@smithy/fetch-http-handler');
    const chain = fromNodeProviderChain({
      // Only `fetch` knows the proxy of the surroundings.
      clientConfig: { requestHandler: new FetchHttpHandler() },
      ...(profile && { profile }),
      ...(filepath && { filepath }),
      ...(configFilepath && { configFilepath }),
      // A sign-in in another window changes the files.
      ignoreCache: true,
    });
    return await chain();
  } catch (cause) {
    const said = messageOf(cause).split('\n')[0]?.replace(/\.$/, '');
    const advice = 'Sign in (aws sso login), set AWS_PROFILE, or set awsAuthRefresh to a command that signs in.';
    throw new KeyUnavailable(`There are no credentials for AWS: ${said}. ${advice}`, { cause });
  }
}

const printedCredentials = z.object({
  Credentials: z.object({
    AccessKeyId: z.string().min(1),
    SecretAccessKey: z.string().min(1),
    SessionToken: z.string().min(1).optional(),
    Expiration: z.coerce.date().optional(),
  }),
});

async function exported(command: string, variables: CloudSettings['variables']): Promise<AwsCredentials> {
  const parsed = printedCredentials.safeParse(
    parseJson(await runRenewal('awsCredentialExport', command, { variables })),
  );
  if (!parsed.success) {
    throw new KeyUnavailable(
      'The command of awsCredentialExport printed no credentials. It must print { "Credentials": { "AccessKeyId": "…", "SecretAccessKey": "…", "SessionToken": "…" } }.',
    );
  }
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = parsed.data.Credentials;
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    ...(SessionToken !== undefined && { sessionToken: SessionToken }),
    ...(Expiration !== undefined && { expiration: Expiration }),
  };
}
