import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const CHOOSE = join(import.meta.dirname, '../../src/model/choose/choose-port.ts');
const OTHERS =
  /node_modules\/(?:@aws|@aws-sdk|@aws-crypto|@smithy|@anthropic-ai\/\w+-sdk|google-auth-library|gaxios|openai)\//;
const OUR_PORTS =
  /src\/model\/(?:chat|responses|gemini|demo)\/|src\/model\/clouds\/(?!cloud-settings)|openai-compatible/;

/** The modules that are loaded once a model is ready to be asked, in a process of its own. */
async function modulesOf(model: string): Promise<readonly string[]> {
  const program = `
    const { choosePort } = await import(${JSON.stringify(CHOOSE)});
    const clouds = { variables: { AWS_REGION: 'us-east-1' }, keys: {} };
    const providers = { openai: { apiKey: 'k' } };
    const choice = choosePort({ model: ${JSON.stringify(model)}, apiKey: 'k', clouds, providers });
    await choice.port.prepare();
    console.log(JSON.stringify(Object.keys(require.cache)));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-env-file', '-e', program]);
  return JSON.parse(stdout);
}

test("who asks Anthropic loads Anthropic's library, and nothing of any other place", async () => {
  const [anthropic, bedrock] = await Promise.all([modulesOf('sonnet'), modulesOf('bedrock/sonnet')]);
  expect(anthropic.some((path) => path.includes('node_modules/@anthropic-ai/sdk/'))).toBe(true);
  expect(anthropic.filter((path) => OTHERS.test(path) || OUR_PORTS.test(path))).toEqual([]);
  // The same look finds them where they are used.
  expect(bedrock.some((path) => OTHERS.test(path))).toBe(true);
});
