import type { Json, JsonObject } from '../../contracts/index.ts';
import type { Rule } from './rule.ts';
import { arrayOf, isObject, isString, type Placed, placed } from './shape.ts';

const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const TOOLSET = /^(?:computer|browser)_toolset_\d{8}$|^mcp_toolset$/;
const TOOL_SEARCH = /^tool_search_tool_(?:regex|bm25)(?:_\d{8})?$/;
const MOST_STRICT = 20;
const SCHEMA_PARTS = ['items', 'anyOf', 'allOf'];
const SCHEMA_MAPS = ['properties', '$defs', 'definitions'];
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

/** Tools that the caller defines; others are declared by a dated type and bring their own schema. */
function customTools(body: JsonObject): readonly Placed[] {
  return placed('tools', body.tools).filter(
    ({ block }) => block.type === undefined || block.type === null || block.type === 'custom',
  );
}

export const TOOL_RULES: readonly Rule[] = [
  {
    id: 'tools-list',
    check({ tools }) {
      if (tools === undefined) return [];
      if (!Array.isArray(tools)) return ['tools: Input should be a valid list'];
      return tools.flatMap((tool, index) => (isObject(tool) ? [] : [`tools.${index}: Input should be an object`]));
    },
  },
  {
    id: 'tool-name',
    check: (body) =>
      placed('tools', body.tools).flatMap(({ path, block }) => {
        if (isString(block.type) && TOOLSET.test(block.type)) {
          return block.name === undefined ? [] : [`${path}.name: Extra inputs are not permitted`];
        }
        if (!isString(block.name)) return [`${path}.custom.name: Field required`];
        return TOOL_NAME.test(block.name)
          ? []
          : [`${path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`];
      }),
  },
  {
    id: 'tool-names-unique',
    check(body) {
      const seen = new Set<string>();
      const twice = new Set<string>();
      for (const { block } of placed('tools', body.tools)) {
        if (!isString(block.name)) continue;
        if (seen.has(block.name)) twice.add(block.name);
        seen.add(block.name);
      }
      return [...twice].map((name) => `tools: Tool names must be unique. Found more than one '${name}'.`);
    },
  },
  {
    id: 'tool-fields',
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
          isObject(example) ? [] : [`${path}.custom.input_examples.${index}: Input should be an object`],
        ),
      ]),
  },
  {
    id: 'input-schema',
    check: (body) =>
      customTools(body).flatMap(({ path, block }) => {
        const schema = block.input_schema;
        if (schema === undefined) return [`${path}.custom.input_schema: Field required`];
        if (!isObject(schema)) return [`${path}.custom.input_schema: Input should be an object`];
        if (schema.type !== 'object') return [`${path}.custom.input_schema.type: Input should be 'object'`];
        const names = isObject(schema.properties) ? Object.keys(schema.properties) : [];
        return [
          ...(['oneOf', 'allOf', 'anyOf'].some((combinator) => schema[combinator] !== undefined)
            ? [`${path}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`]
            : []),
          ...(names.every((name) => PROPERTY_NAME.test(name))
            ? []
            : [`${path}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`]),
        ];
      }),
  },
  {
    id: 'strict-closed',
    check: (body) =>
      customTools(body)
        .filter(({ block }) => block.strict === true)
        .flatMap(({ path, block }) => openObjects(`${path}.custom.input_schema`, block.input_schema))
        .map((path) => `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`),
  },
  {
    id: 'strict-count',
    check(body) {
      const count = customTools(body).filter(({ block }) => block.strict === true).length;
      return count > MOST_STRICT ? [`tools: at most ${MOST_STRICT} strict tools are supported. Found ${count}.`] : [];
    },
  },
  {
    id: 'not-all-deferred',
    check(body) {
      const tools = placed('tools', body.tools);
      const deferred = tools.filter(({ block }) => block.defer_loading === true);
      return [
        ...(tools.length > 0 && deferred.length === tools.length
          ? ['tools: At least one tool must have defer_loading=false. All tools cannot be deferred.']
          : []),
        ...deferred
          .filter(({ block }) => isString(block.type) && TOOL_SEARCH.test(block.type))
          .map(({ path }) => `${path}.defer_loading: a tool search tool may not be deferred`),
      ];
    },
  },
];

/** Where a schema describes an object that may have more properties than it names. */
function openObjects(path: string, schema: Json | undefined): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap((part, index) => openObjects(`${path}.${index}`, part));
  if (!isObject(schema)) return [];
  const open = schema.type === 'object' && schema.additionalProperties !== false ? [path] : [];
  const parts = SCHEMA_PARTS.flatMap((key) => openObjects(`${path}.${key}`, schema[key]));
  const named = SCHEMA_MAPS.flatMap((key) =>
    Object.entries(isObject(schema[key]) ? schema[key] : {}).flatMap(([name, part]) =>
      openObjects(`${path}.${key}.${name}`, part),
    ),
  );
  return [...open, ...parts, ...named];
}
