import type {
  CallToolResult,
  ElicitRequestFormParams,
  GetPromptResult,
  Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { ServedCallContext, ServedFeatures } from '../../src/mcp/server/mcp-server.ts';

/** A red dot and a short silence: what the suite takes as a picture and a sound. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] });
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const resource = (uri: string, mimeType: string, words: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: words } }) as const;
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

async function asked(
  { ask }: ServedCallContext,
  what: string,
  properties: ElicitRequestFormParams['requestedSchema']['properties'],
  message = 'Please fill it in',
  required: string[] = [],
) {
  if (ask === undefined) throw new Error('Nobody can be asked.');
  const { action, content } = await ask({ message, requestedSchema: { type: 'object', properties, required } });
  return text(`${what}: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const CHOICES = ['option1', 'option2', 'option3'];
const TITLED = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
];

type Made = {
  readonly schema?: Tool['inputSchema'];
  readonly call: (input: { readonly [name: string]: unknown }, call: ServedCallContext) => Promise<CallToolResult>;
};

const words = (name: string): Tool['inputSchema'] => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
});

/** The tools that the official suite calls, by the names it knows. */
const TOOLS: Readonly<Record<string, Made>> = {
  test_simple_text: { call: async () => text('This is a simple text response for testing.') },
  test_image_content: { call: async () => ({ content: [image] }) },
  test_audio_content: { call: async () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    call: async () => ({
      content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    call: async () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_tool_with_logging: {
    async call(_, { log }) {
      for (const state of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        log('info', state);
        await pause();
      }
      return text('Logged.');
    },
  },
  test_error_handling: {
    async call() {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_tool_with_progress: {
    async call(_, { reportProgress }) {
      for (const amount of [0, 50, 100]) {
        reportProgress({ progress: amount, total: 100 });
        await pause();
      }
      return text('Done.');
    },
  },
  test_sampling: {
    schema: words('prompt'),
    async call({ prompt }, { sample }) {
      if (sample === undefined) throw new Error('No model can be asked.');
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } }];
      const { content } = await sample({ messages, maxTokens: 100 });
      return text(`LLM response: ${content.type === 'text' ? content.text : content.type}`);
    },
  },
  test_elicitation: {
    schema: words('message'),
    call: ({ message }, call) =>
      asked(
        call,
        'User response',
        {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        String(message),
        ['username', 'email'],
      ),
  },
  test_elicitation_sep1034_defaults: {
    call: (_, call) =>
      asked(call, 'Elicitation completed', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
  },
  test_elicitation_sep1330_enums: {
    call: (_, call) =>
      asked(call, 'Elicitation completed', {
        untitledSingle: { type: 'string', enum: CHOICES },
        titledSingle: { type: 'string', oneOf: TITLED },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: CHOICES } },
        titledMulti: { type: 'array', items: { anyOf: TITLED } },
      }),
  },
  json_schema_2020_12_tool: {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    call: async () => text('Fine.'),
  },
  test_reconnection: {
    async call(_, { releaseStream }) {
      releaseStream?.();
      await pause();
      return text('Reconnection test completed.');
    },
  },
};

const said = (...content: GetPromptResult['messages'][number]['content'][]): GetPromptResult => ({
  messages: content.map((one) => ({ role: 'user', content: one })),
});
const line = (words: string) => ({ type: 'text', text: words }) as const;

const PROMPTS: Readonly<
  Record<
    string,
    { readonly args: readonly string[]; readonly get: (args: Readonly<Record<string, string>>) => GetPromptResult }
  >
> = {
  test_simple_prompt: { args: [], get: () => said(line('This is a simple prompt for testing.')) },
  test_prompt_with_arguments: {
    args: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => said(line(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    args: ['resourceUri'],
    get: ({ resourceUri = '' }) =>
      said(
        resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        line('Please process the embedded resource above.'),
      ),
  },
  test_prompt_with_image: { args: [], get: () => said(image, line('Please analyze the image above.')) },
};

/** The features the official suite requires of a server. */
export const CONFORMANCE_FEATURES: ServedFeatures = {
  name: 'conformance',
  version: '1.0.0',
  tools: () =>
    Object.entries(TOOLS).map(([name, { schema }]) => ({
      name,
      description: `For the suite: ${name}`,
      inputSchema: schema ?? { type: 'object' },
    })),
  call: async (name, input, call) => TOOLS[name]?.call(input, call),
  prompts: {
    list: async () =>
      Object.entries(PROMPTS).map(([name, { args }]) => ({
        name,
        description: `For the suite: ${name}`,
        arguments: args.map((arg) => ({ name: arg, description: arg, required: true })),
      })),
    get: async (name, args) => PROMPTS[name]?.get(args) ?? `There is no prompt ${name}.`,
  },
  resources: {
    list: async () => ({
      resources: ['test://static-text', 'test://static-binary', 'test://watched-resource'].map((uri) => ({
        uri,
        name: uri,
        description: `For the suite: ${uri}`,
      })),
    }),
    templates: () => [{ uriTemplate: 'test://template/{id}/data', name: 'template', description: 'For the suite' }],
    async read(uri) {
      const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1];
      if (id !== undefined) {
        const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
        return { contents: [{ uri, mimeType: 'application/json', text: data }] };
      }
      if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
      const content = 'This is the content of the static text resource.';
      return { contents: [{ uri, mimeType: 'text/plain', text: content }] };
    },
    watch: () => () => undefined,
  },
  complete: async ({ argument }) => ['paris', 'park', 'party'].filter((value) => value.startsWith(argument.value)),
};
