import type { CloudSettings } from '../../../src/model/providers/cloud-settings.ts';
import type { ModelConfig } from '../../../src/model/registry/model-config.ts';
import { ANTHROPIC_DIALECT } from '../../support/api/anthropic-dialect.ts';
import { AWS_KEY, BEDROCK_DIALECT, MANTLE_DIALECT, VERTEX_DIALECT } from '../../support/api/cloud-dialects.ts';
import type { Dialect } from '../../support/api/dialect.ts';
import { GEMINI_DIALECT } from '../../support/api/gemini-dialect.ts';
import { OPENAI_DIALECT } from '../../support/api/openai-dialect.ts';
import { contextLengthExceeded } from '../../support/api/openai-server.ts';
import { type ApiTurn, promptTooLong, status } from '../../support/api/reply.ts';
import { RESPONSES_DIALECT } from '../../support/api/responses-dialect.ts';

/** One way to a model: how its server speaks, and how it is reached. */
export type Protocol = {
  readonly name: string;
  readonly dialect: Dialect;
  readonly config: (url: string) => ModelConfig;
  /** What a request looks like in which the model's thoughts have come back; `thought` is the signature. */
  readonly thoughtsBack: (thought: string) => string;
  /** The server's own words for a prompt that does not fit. */
  readonly tooLong: ApiTurn;
};

const KEY = 'a-key-of-the-test';
const clouds = (variables: Readonly<Record<string, string>>, keys: CloudSettings['keys'] = {}) => ({
  clouds: { variables, keys },
});
const signatureBack = (thought: string) => `"signature":"${thought}"`;
const AWS = { AWS_ACCESS_KEY_ID: AWS_KEY.id, AWS_SECRET_ACCESS_KEY: AWS_KEY.secret, AWS_REGION: 'us-east-1' };

export const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'Anthropic',
    dialect: ANTHROPIC_DIALECT,
    config: (baseUrl) => ({ model: 'claude-sonnet-4-6', apiKey: KEY, baseUrl }),
    thoughtsBack: signatureBack,
    tooLong: promptTooLong(),
  },
  {
    name: 'Bedrock',
    dialect: BEDROCK_DIALECT,
    config: (url) => ({
      model: 'bedrock/us.anthropic.claude-sonnet-4-6',
      ...clouds({ ...AWS, ANTHROPIC_BEDROCK_BASE_URL: url }),
    }),
    thoughtsBack: signatureBack,
    tooLong: status(400, 'Input is too long for requested model.'),
  },
  {
    name: "Bedrock's Messages API",
    dialect: MANTLE_DIALECT,
    config: (url) => ({
      model: 'mantle/anthropic.claude-sonnet-4-6',
      ...clouds({ ...AWS, ANTHROPIC_BEDROCK_MANTLE_BASE_URL: `${url}/anthropic` }),
    }),
    thoughtsBack: signatureBack,
    tooLong: promptTooLong(),
  },
  {
    name: 'Vertex AI',
    dialect: VERTEX_DIALECT,
    config: (url) => ({
      model: 'vertex/claude-sonnet-4-6',
      ...clouds({
        ANTHROPIC_VERTEX_BASE_URL: `${url}/v1`,
        ANTHROPIC_VERTEX_PROJECT_ID: 'p',
        CLOUDSDK_AUTH_ACCESS_TOKEN: KEY,
      }),
    }),
    thoughtsBack: signatureBack,
    tooLong: promptTooLong(),
  },
  {
    name: 'Foundry',
    dialect: ANTHROPIC_DIALECT,
    config: (url) => ({
      model: 'foundry/claude-sonnet-4-6',
      ...clouds({ ANTHROPIC_FOUNDRY_BASE_URL: `${url}/anthropic` }, { ANTHROPIC_FOUNDRY_API_KEY: KEY }),
    }),
    thoughtsBack: signatureBack,
    tooLong: promptTooLong(),
  },
  {
    name: 'Responses',
    dialect: RESPONSES_DIALECT,
    config: (url) => ({
      model: 'openai/gpt-5.2',
      providers: { openai: { baseUrl: `${url}/v1`, apiKey: KEY, api: 'responses' } },
    }),
    thoughtsBack: (thought) => `"encrypted_content":"${thought}"`,
    tooLong: status(
      400,
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
    ),
  },
  {
    name: 'Azure',
    dialect: RESPONSES_DIALECT,
    config: (url) => ({ model: 'azure/our-gpt', providers: { azure: { baseUrl: `${url}/openai/v1`, apiKey: KEY } } }),
    thoughtsBack: (thought) => `"encrypted_content":"${thought}"`,
    tooLong: status(400, 'Your input exceeds the context window of this model.'),
  },
  {
    name: 'chat completions',
    dialect: OPENAI_DIALECT,
    config: (url) => ({ model: 'work/coder', providers: { work: { baseUrl: `${url}/v1`, apiKey: KEY } } }),
    thoughtsBack: () => '"reasoning_content":"Let me think."',
    tooLong: contextLengthExceeded(),
  },
  {
    name: 'Gemini',
    dialect: GEMINI_DIALECT,
    config: (url) => ({
      model: 'gemini/gemini-3-pro',
      providers: { gemini: { baseUrl: `${url}/v1beta`, apiKey: KEY, api: 'gemini' } },
    }),
    thoughtsBack: () => '"thoughtSignature":"',
    tooLong: status(400, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
  },
];
