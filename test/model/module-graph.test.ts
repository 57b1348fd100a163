import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { createModelRegistry } from '../../src/model/registry/model-registry.ts';
import { longTest } from '../support/long-test.ts';

const REGISTRY = join(import.meta.dirname, '../../src/model/registry/model-registry.ts');
const OTHERS =
  /node_modules\/(?:@aws|@aws-sdk|@aws-crypto|@smithy|@anthropic-ai\/\w+-sdk|google-auth-library|gaxios|openai)\//;
const OTHER_PORTS =
  /src\/model\/(?:chat|responses|gemini|demo)\/|src\/model\/clouds\/(?!cloud-settings)|openai-compatible|src\/model\/providers\/(?!anthropic\/|create-provider-port|cloud-settings|tool-identifiers)/;

/** Lists the modules loaded once a model is ready to be used, in a separate process. */
async function modulesOf(model: string): Promise<readonly string[]> {
  const program = `
    const { ${createModelRegistry.name}: createRegistry } = await import(${JSON.stringify(REGISTRY)});
    const clouds = { variables: { AWS_REGION: 'us-east-1' }, keys: {} };
    const providers = { openai: { apiKey: 'k' } };
    const registry = createRegistry({ model: ${JSON.stringify(model)}, apiKey: 'k', clouds, providers });
    await registry.port.prepare();
    console.log(JSON.stringify(Object.keys(require.cache)));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-env-file', '-e', program]);
  return JSON.parse(stdout);
}

longTest("using Anthropic loads Anthropic's SDK and no module of another provider", async () => {
  const [anthropic, bedrock] = await Promise.all([modulesOf('sonnet'), modulesOf('bedrock/sonnet')]);
  expect(anthropic.some((path) => path.includes('node_modules/@anthropic-ai/sdk/'))).toBe(true);
  expect(anthropic.filter((path) => OTHERS.test(path) || OTHER_PORTS.test(path))).toEqual([]);
  // The same pattern finds them for a model that uses them.
  expect(bedrock.some((path) => OTHERS.test(path))).toBe(true);
});
