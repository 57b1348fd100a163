import type { GoogleAuth } from 'google-auth-library';
import { messageOf } from '../../lib/errors.ts';
import { KeyUnavailable } from '../keys/key-unavailable.ts';
import { type CloudSettings, firstOf } from './cloud-settings.ts';
import { runRenewal, shareRenewal } from './renewal.ts';

/** Who we are for Google Cloud, as long as ouro runs. */
export type GoogleSource = {
  /** The headers of a request made now; the library gets a new token before the last one runs out. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly project: () => Promise<string>;
  /** The token was refused: is there a way to another? */
  readonly renew: () => Promise<boolean>;
};

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** A token that is given, else the default credentials of Google's tools; a command signs in when there are none. */
export function openGoogleSource(settings: CloudSettings): GoogleSource {
  const { gcpAuthRefresh } = settings;
  const given = firstOf(settings, 'CLOUDSDK_AUTH_ACCESS_TOKEN', 'GOOGLE_OAUTH_ACCESS_TOKEN');
  let auth: Promise<GoogleAuth> | undefined;

  async function load(): Promise<GoogleAuth> {
    const { GoogleAuth } = await import('google-auth-library');
    const keyFilename = firstOf(settings, 'GOOGLE_APPLICATION_CREDENTIALS');
    return new GoogleAuth({ scopes: SCOPE, ...(keyFilename && { keyFilename }) });
  }

  async function tokenHeaders(): Promise<Readonly<Record<string, string>>> {
    auth ??= load();
    return Object.fromEntries(await (await auth).getRequestHeaders());
  }

  /** Without a command the credentials are only read anew: somebody may have signed in elsewhere. */
  const signIn = shareRenewal(async () => {
    if (gcpAuthRefresh !== undefined) await runRenewal('gcpAuthRefresh', gcpAuthRefresh, settings);
    auth = undefined;
    return true;
  });

  return {
    async headers() {
      if (given !== undefined) return { authorization: `Bearer ${given}` };
      try {
        return await tokenHeaders();
      } catch (thrown) {
        auth = undefined;
        if (gcpAuthRefresh === undefined) throw unavailable(thrown);
      }
      await signIn();
      return tokenHeaders().catch((thrown) => Promise.reject(unavailable(thrown)));
    },
    async project() {
      const named = firstOf(settings, 'ANTHROPIC_VERTEX_PROJECT_ID', 'GOOGLE_CLOUD_PROJECT', 'GCLOUD_PROJECT');
      if (named !== undefined) return named;
      auth ??= load();
      return (await auth).getProjectId().catch((cause) => {
        const words = 'Vertex AI needs a project. Set ANTHROPIC_VERTEX_PROJECT_ID.';
        throw new KeyUnavailable(words, { cause });
      });
    },
    renew: async () => (given === undefined ? signIn() : false),
  };
}

function unavailable(cause: unknown): KeyUnavailable {
  const said = messageOf(cause)
    .split('\n')[0]
    ?.replace(/\. .*$|\.$/, '');
  const advice =
    'Sign in (gcloud auth application-default login), set GOOGLE_APPLICATION_CREDENTIALS, or set gcpAuthRefresh to a command that signs in.';
  return new KeyUnavailable(`There are no credentials for Google Cloud: ${said}. ${advice}`, { cause });
}
