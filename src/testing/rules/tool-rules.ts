import type { JsonObject } from '../../contracts/index.ts';
import { docs, type Rule, report, sdk } from './rule.ts';
import { ask, tool } from './samples.ts';
import { arrayOf, isObject, isString, placed } from './shape.ts';
import { customTools, isNameless } from './tools.ts';

const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MOST_TOOLS = 10_000;
const FIELDS = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'input_examples',
  'cache_control',
  'defer_loading',
  'allowed_callers',
  'eager_input_streaming',
]);
const FLAGS = ['strict', 'defer_loading', 'eager_input_streaming'];
const NUMBERED = {
  input_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
};
const CALLERS = ['direct', 'code_execution_20250825', 'code_execution_20260120', 'code_execution_20260521'];

export const TOOL_RULES: readonly Rule[] = [
  {
    id: 'tools-list',
    refuses: 'whose tools are no list of objects',
    source: sdk('MessageCreateParams.tools'),
    check({ tools }) {
      if (tools === undefined) return [];
      if (!Array.isArray(tools)) return ['tools: Input should be a valid list'];
      return tools.flatMap((each, index) => (isObject(each) ? [] : [`tools.${index}: Input should be an object`]));
    },
    breach: ask({ tools: {} }),
    keeps: ask({ tools: [] }),
  },
  {
    id: 'tools-count',
    refuses: 'with more than 10,000 tools',
    source: docs('Tool search: limits'),
    check: ({ tools }) =>
      arrayOf(tools).length > MOST_TOOLS
        ? [`tools: List should have at most ${MOST_TOOLS} items after validation, not ${arrayOf(tools).length}`]
        : [],
    // Made when somebody looks, because it is large.
    get breach() {
      return ask({ tools: Array.from({ length: MOST_TOOLS + 1 }, (_, n) => tool({ name: `t${n}` })) });
    },
    keeps: ask({ tools: [tool()] }),
  },
  {
    id: 'tool-name',
    refuses:
      'with a tool whose name is missing or has other characters than letters, digits, _ and -, or more than 128',
    source: report('the API gives the pattern ^[a-zA-Z0-9_-]{1,128}$'),
    check: (body) =>
      placed('tools', body.tools).flatMap(({ path, block }) => {
        if (isNameless(block)) return [];
        if (!isString(block.name)) return [`${path}.custom.name: Field required`];
        return TOOL_NAME.test(block.name)
          ? []
          : [`${path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`];
      }),
    breach: ask({ tools: [tool({ name: 'a.b' })] }),
    keeps: ask({ tools: [tool({ name: 'a'.repeat(128) })] }),
  },
  {
    id: 'tool-names-unique',
    refuses: 'with two tools of one name',
    source: report('the API words it "tools: Tool names must be unique."'),
    check(body) {
      const seen = new Set<string>();
      const twice = placed('tools', body.tools).some(({ block }) => {
        if (!isString(block.name)) return false;
        const repeated = seen.has(block.name);
        seen.add(block.name);
        return repeated;
      });
      return twice ? ['tools: Tool names must be unique.'] : [];
    },
    breach: ask({ tools: [tool(), tool()] }),
    keeps: ask({ tools: [tool(), tool({ name: 'other' })] }),
  },
  {
    id: 'tool-fields',
    refuses: 'with a tool that has a field the API does not know, or a value of the wrong kind in one',
    source: sdk('BetaTool'),
    check: (body) =>
      customTools(body).flatMap(({ path, block }) => [
        ...Object.keys(block)
          .filter((field) => !FIELDS.has(field))
          .map((field) => `${path}.custom.${field}: Extra inputs are not permitted`),
        ...FLAGS.filter((flag) => (block[flag] ?? null) !== null && typeof block[flag] !== 'boolean').map(
          (flag) => `${path}.custom.${flag}: Input should be a valid boolean`,
        ),
        ...(block.description === undefined || isString(block.description)
          ? []
          : [`${path}.custom.description: Input should be a valid string`]),
        ...arrayOf(block.input_examples).flatMap((example, index) =>
          isObject(example) ? [] : [`${path}.custom.input_examples.${index}: Input should be a valid dictionary`],
        ),
      ]),
    breach: ask({ tools: [tool({ effect: 'read' })] }),
    keeps: ask({ tools: [tool({ eager_input_streaming: null, input_examples: [{}] })] }),
  },
  {
    id: 'tool-callers',
    refuses: 'with a tool whose allowed_callers hold something else than direct and versions of code execution',
    source: sdk('BetaTool.allowed_callers'),
    check: (body) =>
      placed('tools', body.tools).flatMap(({ path, block }) =>
        arrayOf(block.allowed_callers).flatMap((caller, index) =>
          CALLERS.includes(String(caller))
            ? []
            : [`${path}.allowed_callers.${index}: Input should be ${CALLERS.map((each) => `'${each}'`).join(', ')}`],
        ),
      ),
    breach: ask({ tools: [tool({ allowed_callers: ['anybody'] })] }),
    keeps: ask({ tools: [tool({ allowed_callers: ['direct'] })] }),
  },
  {
    id: 'input-schema',
    refuses: 'with a tool whose input_schema is missing, is not of type object, or combines schemas on top',
    source: report('the API words it "input_schema does not support oneOf, allOf, or anyOf at the top level"'),
    check: (body) =>
      customTools(body).flatMap(({ path, block }) => {
        const schema = block.input_schema;
        if (schema === undefined) return [`${path}.custom.input_schema: Field required`];
        if (!isObject(schema)) return [`${path}.custom.input_schema: Input should be a valid dictionary`];
        if (schema.type === undefined) return [`${path}.custom.input_schema.type: Field required`];
        if (schema.type !== 'object') return [`${path}.custom.input_schema.type: Input should be 'object'`];
        return ['oneOf', 'allOf', 'anyOf'].some((combinator) => schema[combinator] !== undefined)
          ? [`${path}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`]
          : [];
      }),
    breach: ask({ tools: [tool({ input_schema: { type: 'object', anyOf: [{ type: 'object' }] } })] }),
    keeps: ask({ tools: [tool()] }),
  },
  {
    id: 'property-names',
    refuses: 'with a tool that has a property whose name has other characters than letters, digits, _ . and -',
    source: report('the API gives the pattern ^[a-zA-Z0-9_.-]{1,64}$'),
    check: (body) =>
      customTools(body).flatMap(({ path, block: { input_schema: schema } }) => {
        const names = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
        return names.every((name) => PROPERTY_NAME.test(name))
          ? []
          : [`${path}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`];
      }),
    breach: ask({ tools: [tool({ input_schema: { type: 'object', properties: { $top: { type: 'string' } } } })] }),
    keeps: ask({ tools: [tool({ input_schema: { type: 'object', properties: { top: { type: 'string' } } } })] }),
  },
  {
    id: 'input-examples-fit',
    refuses: 'with an example of input that does not fit the schema',
    source: docs('Define tools: input examples'),
    check: (body) =>
      customTools(body).flatMap(({ path, block }) =>
        arrayOf(block.input_examples).flatMap((example, index) => {
          const problem = isObject(example) ? misfit(example, block.input_schema) : undefined;
          return problem === undefined ? [] : [`${path}.custom.input_examples.${index}: ${problem}`];
        }),
      ),
    breach: ask({ tools: [tool({ ...NUMBERED, input_examples: [{ n: 'one' }] })] }),
    keeps: ask({ tools: [tool({ ...NUMBERED, input_examples: [{ n: 1 }] })] }),
  },
];

const KINDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', (value) => isObject(value as JsonObject)],
  ['array', (value) => Array.isArray(value)],
  ['null', (value) => value === null],
]);

/** What of an example plainly doesn't fit: required properties and the kinds of those on top. */
function misfit(example: JsonObject, schema: JsonObject[string] | undefined): string | undefined {
  if (!isObject(schema)) return undefined;
  const missing = arrayOf(schema.required).find((name) => isString(name) && !(name in example));
  if (missing !== undefined) return `'${String(missing)}' is a required property`;
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const [name, value] of Object.entries(example)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined && schema.additionalProperties === false) {
      return `Additional properties are not allowed ('${name}' was unexpected)`;
    }
    if (!isObject(property) || !isString(property.type)) continue;
    if (KINDS.get(property.type)?.(value) === false)
      return `${JSON.stringify(value)} is not of type '${property.type}'`;
  }
  return undefined;
}
