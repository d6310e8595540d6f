/**
 * The server that the conformance suite looks at: Bridle's public API, with the tools, resources and prompts that its
 * scenarios name. It prints its address, and ends with its stdin.
 */
import {
  audio,
  contentSource,
  definePrompt,
  defineResource,
  defineResourceTemplate,
  defineTool,
  embeddedResource,
  functionSource,
  image,
  text,
  toolHost,
} from 'bridle';
import { serve } from 'bridle/server';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const PLAIN = { mimeType: 'text/plain' };

const object = (properties = {}, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const string = (more = {}) => ({ type: 'string', ...more });
const NONE = object();
const tool = (name, description, handler, input = NONE) => defineTool({ name, description, input }, handler);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const user = (message) => ({ role: 'user', content: { type: 'text', text: message } });
const told = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`;
const NAME = object({ name: string() });

const plain = [
  tool('test_simple_text', 'Answers with text.', () => 'This is a simple text response for testing.'),
  tool('test_image_content', 'Answers with an image.', () => image(PNG, 'image/png')),
  tool('test_audio_content', 'Answers with a sound.', () => audio(WAV, 'audio/wav')),
  tool('test_embedded_resource', 'Answers with a resource.', () =>
    embeddedResource({
      uri: 'test://embedded-resource',
      ...PLAIN,
      text: 'This is an embedded resource content.',
    }),
  ),
  tool('test_multiple_content_types', 'Answers with several blocks.', () => [
    text('Multiple content types test:'),
    image(PNG, 'image/png'),
    embeddedResource({
      uri: 'test://mixed-content-resource',
      mimeType: 'application/json',
      text: '{"test":"data","value":123}',
    }),
  ]),
  tool('test_error_handling', 'Fails.', () => {
    throw new Error('This tool intentionally returns an error for testing');
  }),
  tool('test_tool_with_logging', 'Says what it does.', async (_, { log }) => {
    for (const said of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      log(said);
      await pause(50);
    }
    return 'Done.';
  }),
  tool('test_logging_tool', 'Says what it does.', (_, { log }) => {
    log('Working.');
    return 'Done.';
  }),
  tool('test_tool_with_progress', 'Tells how far it is.', async (_, { progress }) => {
    for (const done of [0, 50, 100]) {
      progress(done, 100);
      await pause(50);
    }
    return 'Done.';
  }),
  tool('test_reconnection', 'Lets its caller go while it works.', async (_, { disconnect }) => {
    disconnect();
    await pause(100);
    return 'Gone on with.';
  }),
  tool(
    'test_custom_header',
    'Takes a region, which stands in a header too.',
    ({ region }) => region,
    object({ region: string({ 'x-mcp-header': 'Region' }) }),
  ),
  defineTool(
    {
      name: 'json_schema_2020_12_tool',
      description: 'Tool with JSON Schema 2020-12 features',
      input: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: { address: { $anchor: 'addressDef', ...object({ street: string(), city: string() }, []) } },
        properties: {
          name: string(),
          address: { $ref: '#/$defs/address' },
          contactMethod: string({ enum: ['phone', 'email'] }),
          phone: string(),
          email: string(),
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false,
      },
    },
    (input) => JSON.stringify(input),
  ),
];

const titled = (...entries) => entries.map(([value, title]) => ({ const: value, title }));
const OPTIONS = ['option1', 'option2', 'option3'];
const asking = [
  tool(
    'test_elicitation',
    'Asks its person.',
    async ({ message }, { ask }) =>
      `User response: ${told(
        await ask(
          message,
          object({
            username: string({ description: "User's response" }),
            email: string({ description: "User's email address" }),
          }),
        ),
      )}`,
    object({ message: string() }),
  ),
  tool('test_elicitation_sep1034_defaults', 'Asks with defaults.', async (_, { ask }) => {
    const form = {
      name: string({ default: 'John Doe' }),
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: string({ enum: ['active', 'inactive', 'pending'], default: 'active' }),
      verified: { type: 'boolean', default: true },
    };
    return `Elicitation completed: ${told(await ask('Please check these.', object(form, [])))}`;
  }),
  tool('test_elicitation_sep1330_enums', 'Asks with choices of every kind.', async (_, { ask }) => {
    const form = {
      untitledSingle: string({ enum: OPTIONS }),
      titledSingle: string({ oneOf: titled(['value1', 'First Option'], ['value2', 'Second Option']) }),
      legacyEnum: string({ enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] }),
      untitledMulti: { type: 'array', items: string({ enum: OPTIONS }) },
      titledMulti: { type: 'array', items: { anyOf: titled(['value1', 'First Choice'], ['value2', 'Second Choice']) } },
    };
    return `Elicitation completed: ${told(await ask('Please choose.', object(form, [])))}`;
  }),
  tool(
    'test_sampling',
    'Asks the model of its caller.',
    async ({ prompt }, { sample }) => {
      const { content } = await sample({ messages: [user(prompt)], maxTokens: 100 });
      return `LLM response: ${content.text}`;
    },
    object({ prompt: string() }),
  ),
  tool('test_missing_capability', 'Asks the model of a caller that has none.', async (_, { sample }) => {
    const { content } = await sample({ messages: [user('Say something.')], maxTokens: 10 });
    return content.text;
  }),
  tool('test_streaming_elicitation', 'Says something, and asks.', async (_, { ask, log, progress }) => {
    log('Before the question.');
    progress(0, 1);
    return told(await ask('What is your name?', NAME));
  }),
  tool('test_input_required_result_elicitation', 'Asks for a name.', async (_, { ask }) => {
    const answer = await ask('What is your name?', NAME, { key: 'user_name' });
    return answer.action === 'accept' ? `Hello, ${answer.content.name}!` : 'Hello!';
  }),
  tool('test_input_required_result_sampling', 'Asks a model for a capital.', async (_, { sample }) => {
    const messages = [user('What is the capital of France?')];
    return (await sample({ messages, maxTokens: 100 }, { key: 'capital_question' })).content.text;
  }),
  tool('test_input_required_result_list_roots', 'Asks for folders.', async (_, { roots }) =>
    (await roots({ key: 'client_roots' })).map(({ uri }) => uri).join(', '),
  ),
  tool('test_input_required_result_request_state', 'Asks under a state.', async (_, { ask }) => {
    const { action } = await ask('Please confirm', object({ ok: { type: 'boolean' } }), { key: 'confirm' });
    return `state-ok: ${action}`;
  }),
  tool('test_input_required_result_tampered_state', 'Asks under a state.', async (_, { ask }) => {
    const { action } = await ask('Please confirm', object({ ok: { type: 'boolean' } }));
    return action;
  }),
  tool('test_input_required_result_multiple_inputs', 'Asks for three things at once.', async (_, asks) => {
    const [name, greeting, folders] = await Promise.all([
      asks.ask('What is your name?', NAME, { key: 'user_name' }),
      asks.sample({ messages: [user('Generate a greeting')], maxTokens: 50 }, { key: 'greeting' }),
      asks.roots({ key: 'client_roots' }),
    ]);
    return `${greeting.content.text} ${told(name)} ${folders.length}`;
  }),
  tool('test_input_required_result_multi_round', 'Asks one thing after another.', async (_, { ask }) => {
    const name = await ask('Step 1: What is your name?', NAME, { key: 'step1' });
    const color = await ask('Step 2: What is your favorite color?', object({ color: string() }), { key: 'step2' });
    return `${told(name)}; ${told(color)}`;
  }),
  tool('test_input_required_result_capabilities', 'Asks for what its caller can give.', async (_, asks) => {
    if (asks.canAsk('form')) return told(await asks.ask('What is your name?', NAME));
    const { content } = await asks.sample({ messages: [user('Invent a name.')], maxTokens: 20 });
    return content.text;
  }),
];

/** What the tasks extension is looked at with: work that a person or a machine has to wait for. */
const working = (name, description, handler, input = NONE, execution = { taskSupport: 'optional' }) =>
  defineTool({ name, description, input, execution }, handler);
const NUMBER = { type: 'number' };
const CONFIRM = object({ confirm: { type: 'boolean' } });
const tasks = [
  tool('greet', 'Says hello.', ({ name }) => `Hello, ${name}!`, NAME),
  working(
    'slow_compute',
    'Takes its time.',
    async ({ seconds, label }, { signal }) => {
      await new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, seconds * 1000);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      });
      return `Computed ${label} in ${seconds} s.`;
    },
    object({ seconds: NUMBER, label: string() }, ['seconds']),
  ),
  working(
    'failing_job',
    'Fails after a while.',
    async () => {
      await pause(1000);
      throw new Error('This job fails.');
    },
    NONE,
    { taskSupport: 'required' },
  ),
  working('protocol_error_job', 'Asks for folders, which its caller has none of.', async (_, { roots }) =>
    JSON.stringify(await roots()),
  ),
  working(
    'confirm_delete',
    'Asks before it deletes.',
    async ({ filename }, { ask }) => `${filename}: ${told(await ask(`Delete ${filename}?`, CONFIRM))}`,
    object({ filename: string() }),
  ),
  working('multi_input', 'Asks two things at once.', async (_, { ask }) => {
    const form = object({ name: string(), confirm: { type: 'boolean' } }, []);
    const answers = await Promise.all([ask('Who is it?', form), ask('Are you sure?', form)]);
    return answers.map(told).join('; ');
  }),
  working(
    'test_tool_with_task',
    'Asks who it is for, and works then.',
    async (_, { ask, disconnect }) => {
      const answer = await ask('What is your name?', NAME, { key: 'user_name' });
      disconnect();
      await pause(100);
      return `Done for ${answer.content?.name}.`;
    },
    NONE,
    { taskSupport: 'required', taskStart: 'disconnect' },
  ),
];

/** What changes while the server runs: a tool and a prompt that come and go. */
let isMore = false;
const listeners = new Set();
const extra = functionSource([tool('test_extra', 'Is there at times.', () => 'here')]);
const changing = {
  ...extra,
  list: (signal) => (isMore ? extra.list(signal) : Promise.resolve({ tools: [], setAside: [] })),
  onChange(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
let isPrompted = false;
const triggers = [
  tool('test_trigger_tool_change', 'Changes the tools.', () => {
    isMore = !isMore;
    for (const listener of listeners) listener();
    return 'Changed.';
  }),
  tool('test_trigger_prompt_change', 'Changes the prompts.', () => {
    isPrompted = !isPrompted;
    content.changed();
    return 'Changed.';
  }),
];

const ARGUMENT = { description: 'A test argument.', required: true };
const prompts = [
  definePrompt({
    name: 'test_simple_prompt',
    description: 'A prompt without arguments.',
    messages: () => 'This is a simple prompt for testing.',
  }),
  definePrompt({
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two arguments.',
    arguments: ['arg1', 'arg2'].map((name) => ({
      name,
      ...ARGUMENT,
      complete: (value) => ['testValue1', 'testValue2', 'paris'].filter((each) => each.startsWith(value)),
    })),
    messages: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  }),
  definePrompt({
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource in it.',
    arguments: [{ name: 'resourceUri', ...ARGUMENT }],
    messages: ({ resourceUri: uri }) => [
      {
        role: 'user',
        content: embeddedResource({ uri, ...PLAIN, text: 'Embedded resource content for testing.' }),
      },
      { role: 'user', content: 'Please process the embedded resource above.' },
    ],
  }),
  definePrompt({
    name: 'test_prompt_with_image',
    description: 'A prompt with an image in it.',
    messages: () => [
      { role: 'user', content: image(PNG, 'image/png') },
      { role: 'user', content: 'Please analyze the image above.' },
    ],
  }),
  definePrompt({
    name: 'test_input_required_result_prompt',
    description: 'A prompt that asks first.',
    messages: async (_, { ask }) => {
      const form = object({ context: string() });
      const answer = await ask('What context should the prompt use?', form, { key: 'user_context' });
      return answer.action === 'accept' ? `Context: ${answer.content.context}` : 'No context.';
    },
  }),
];
const morePrompt = definePrompt({ name: 'test_extra', description: 'Is there at times.', messages: () => 'here' });

const content = contentSource({
  resources: [
    defineResource({
      uri: 'test://static-text',
      name: 'static-text',
      description: 'A text.',
      ...PLAIN,
      read: () => 'This is the content of the static text resource.',
    }),
    defineResource({
      uri: 'test://static-binary',
      name: 'static-binary',
      description: 'An image.',
      mimeType: 'image/png',
      read: () => Buffer.from(PNG, 'base64'),
    }),
    defineResource({
      uri: 'test://watched-resource',
      name: 'watched-resource',
      description: 'A text that is followed.',
      ...PLAIN,
      read: () => 'Watched.',
    }),
  ],
  templates: [
    defineResourceTemplate({
      uriTemplate: 'test://template/{id}/data',
      name: 'template',
      description: 'Data of an id.',
      mimeType: 'application/json',
      read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }),
  ],
  prompts: () => (isPrompted ? [...prompts, morePrompt] : prompts),
});

const host = await toolHost({
  info: { name: 'bridle-conformance', version: '1.0.0' },
  tools: [...plain, ...asking, ...tasks, ...triggers],
  sources: [changing],
  content: [content],
});
const handle = await serve(host, { http: { port: 0, token: false } });
console.log(handle.url);
process.stdin.resume().once('end', () => void handle.close());
