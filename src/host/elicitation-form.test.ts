import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { type Form, type FormField, fieldHint, readAnswer, readForm, shownValue } from './elicitation-form.ts';
import { readVisitUrl } from './elicitation-url.ts';

function form(properties: Json, required: Json = []): Form {
  const read = readForm({ type: 'object', properties, required });
  if ('problem' in read) throw new Error(read.problem);
  return read;
}

function field(schema: Json): FormField {
  const [only] = form({ it: schema }).fields;
  if (!only) throw new Error('no field');
  return only;
}

describe('readForm', () => {
  test('takes fields in their order, with title, description, default and what is required', () => {
    const { fields } = form(
      {
        name: { type: 'string', title: 'Your name', description: 'As on the card.' },
        age: { type: 'integer', default: 30 },
      },
      ['name'],
    );
    expect(fields).toMatchObject([
      { key: 'name', title: 'Your name', description: 'As on the card.', required: true, kind: 'text' },
      { key: 'age', title: 'age', required: false, kind: 'integer', default: 30 },
    ]);
  });

  test.each<[string, Json]>([
    ['enum', { type: 'string', enum: ['a', 'b'] }],
    ['enum without a type', { enum: ['a', 'b'] }],
    ['enum with names', { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] }],
    [
      'titled constants',
      {
        type: 'string',
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'B' },
        ],
      },
    ],
  ])('%s is a choice of one', (_, schema) => {
    expect(field(schema)).toMatchObject({ kind: 'one', options: [{ value: 'a' }, { value: 'b' }] });
  });

  test.each<[string, Json]>([
    ['enum items', { type: 'array', items: { type: 'string', enum: ['a', 'b'] } }],
    [
      'titled items',
      {
        type: 'array',
        items: {
          anyOf: [
            { const: 'a', title: 'A' },
            { const: 'b', title: 'B' },
          ],
        },
      },
    ],
  ])('a list of %s is a choice of some', (_, schema) => {
    expect(field(schema)).toMatchObject({ kind: 'many', options: [{ value: 'a' }, { value: 'b' }] });
  });

  test('a default that the field would not take is left out', () => {
    expect(field({ type: 'string', enum: ['a'], default: 'z' })).not.toHaveProperty('default');
    expect(field({ type: 'integer', maximum: 3, default: 4 })).not.toHaveProperty('default');
  });

  test('an optional field that no form has is named; a required one leaves nothing to answer', () => {
    const nested: Json = { type: 'object', properties: {} };
    expect(form({ nested, name: { type: 'string' } })).toMatchObject({
      leftOut: ['nested'],
      fields: [{ key: 'name' }],
    });
    expect(readForm({ type: 'object', properties: { nested }, required: ['nested'] })).toHaveProperty('problem');
    expect(readForm({ type: 'object', properties: {}, required: ['ghost'] })).toHaveProperty('problem');
    expect(readForm({ type: 'string' })).toHaveProperty('problem');
    expect(readForm(undefined)).toHaveProperty('problem');
  });

  test('never throws, whatever stands there', () => {
    fc.assert(fc.property(fc.jsonValue(), (schema) => void readForm({ properties: { x: schema } } as Json)));
    fc.assert(fc.property(fc.jsonValue(), (schema) => void readForm(schema as Json)));
  });

  test('names of Object.prototype are ordinary names', () => {
    const { fields } = form(JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}') as Json);
    expect(fields.map(({ key }) => key)).toEqual(['__proto__', 'constructor']);
  });
});

describe('readAnswer', () => {
  const colours: Json = { type: 'string', enum: ['r', 'g', '1'], enumNames: ['Red', 'Green', 'One'] };
  const several: Json = { type: 'array', items: { enum: ['r', 'g', 'b'] }, minItems: 1, maxItems: 2 };
  test.each<[Json, string, Json]>([
    [{ type: 'string' }, 'Ada', 'Ada'],
    [{ type: 'string' }, '""', ''],
    [{ type: 'number' }, '-1.5e3', -1500],
    [{ type: 'integer' }, '7', 7],
    [{ type: 'boolean' }, 'Yes', true],
    [{ type: 'boolean' }, 'n', false],
    [colours, '2', 'g'],
    [colours, 'green', 'g'],
    [colours, '1', 'r'],
    [several, '1, 3', ['r', 'b']],
    [several, 'g g', ['g']],
    [{ type: 'string', format: 'email' }, 'ada@example.org', 'ada@example.org'],
    [{ type: 'string', format: 'uri' }, 'https://example.org/x', 'https://example.org/x'],
    [{ type: 'string', format: 'date' }, '2024-02-29', '2024-02-29'],
    [{ type: 'string', format: 'date-time' }, '2026-11-30T15:04:05+01:00', '2026-11-30T15:04:05+01:00'],
    [{ type: 'string', minLength: 2 }, '🐎🐎', '🐎🐎'],
  ])('%j takes %j', (schema, line, value) => {
    expect(readAnswer(field(schema), line)).toEqual({ value });
  });

  test.each<[Json, string, string]>([
    [{ type: 'number' }, '0x10', 'a number'],
    [{ type: 'integer' }, '1.5', 'whole number'],
    [{ type: 'integer', minimum: 1, maximum: 5 }, '9', '1 to 5'],
    [{ type: 'number', minimum: 1 }, '0', 'at least 1'],
    [{ type: 'boolean' }, 'maybe', 'y or n'],
    [colours, '9', 'number of one'],
    [several, '1 2 3', 'Choose 1 to 2, not 3'],
    [several, '1 x', 'numbers of some'],
    [{ type: 'string', minLength: 2 }, '🐎', 'characters, not 1'],
    [{ type: 'string', maxLength: 2 }, 'Ada', 'at most 2'],
    [{ type: 'string', format: 'email' }, 'ada', 'e-mail'],
    [{ type: 'string', format: 'uri' }, 'example.org', 'URI'],
    [{ type: 'string', format: 'date' }, '2026-02-30', 'a date'],
    [{ type: 'string', format: 'date-time' }, '2026-11-30T15:04:05', 'zone'],
  ])('%j refuses %j', (schema, line, problem) => {
    expect(readAnswer(field(schema), line)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test('hints and reviews are in words', () => {
    expect(fieldHint(field({ type: 'integer', minimum: 1, maximum: 5 }))).toBe('whole number, 1 to 5, optional');
    expect(shownValue(field(colours), 'g')).toBe('Green');
    expect(shownValue(field(several), ['r', 'b'])).toBe('r, b');
    expect(shownValue(field({ type: 'boolean' }), true)).toBe('yes');
  });
});

describe('readVisitUrl', () => {
  test('shows http and https only', () => {
    expect(readVisitUrl('https://example.org/a?b=c#d')).toEqual({
      url: 'https://example.org/a?b=c#d',
      host: 'example.org',
      warnings: [],
    });
    for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'vscode://x', 'nothing', 7, undefined]) {
      expect(readVisitUrl(url)).toHaveProperty('problem');
    }
  });

  test.each([
    ['http://example.org/', 'not be encrypted'],
    ['https://bank.example@evil.example/', 'leads to evil.example'],
    ['https://аpple.com/', 'letters that may look like others'],
  ])('%s comes with a warning', (url, warning) => {
    const read = readVisitUrl(url);
    expect('warnings' in read && read.warnings.join()).toContain(warning);
  });

  test('a server on this machine needs no encryption', () => {
    expect(readVisitUrl('http://127.0.0.1:3000/')).toMatchObject({ warnings: [] });
  });
});
