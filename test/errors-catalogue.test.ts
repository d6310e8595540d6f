import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Every error that people meet is made by one of these, with its code as the first argument. */
const MAKERS: ReadonlySet<string> = new Set(['BridleError', 'McpError', 'storeError']);

/** Ends of runs are made without an error object: `{ code }` in the loop, `failed(code, …)` for stop reasons. */
const LOOP = 'src/agent/';

interface Found {
  readonly code: string;
  readonly place: string;
}

function sources(): readonly string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.endsWith('fixtures.ts'))
    .map((name) => join(root, 'src', name));
}

/** The texts that an expression can be: a literal, either side of a choice, or a template with `known` filled in. */
function textsOf(node: ts.Expression | undefined, known: ReadonlyMap<string, readonly string[]>): readonly string[] {
  if (node === undefined) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue, known), ...textsOf(node.whenFalse, known)];
  if (ts.isTemplateExpression(node)) {
    const [span, more] = node.templateSpans;
    const values = span && !more ? known.get(span.expression.getText()) : undefined;
    return (values ?? []).map((value) => node.head.text + value + (span?.literal.text ?? ''));
  }
  return [];
}

/** In a `switch`, the labels of the clause in which a node stands: what the switched name can be there. */
function labelsAround(node: ts.Node): ReadonlyMap<string, readonly string[]> {
  const known = new Map<string, readonly string[]>();
  for (let at: ts.Node = node; at.parent !== undefined; at = at.parent) {
    if (!ts.isCaseClause(at) || !ts.isSwitchStatement(at.parent.parent)) continue;
    const clauses = at.parent.clauses;
    const labels: string[] = [];
    // Empty clauses before this one fall into it.
    for (let index = clauses.indexOf(at); index >= 0; index--) {
      const clause = clauses[index];
      if (clause === undefined || !ts.isCaseClause(clause) || (clause !== at && clause.statements.length > 0)) break;
      if (ts.isStringLiteral(clause.expression)) labels.push(clause.expression.text);
    }
    known.set(at.parent.parent.expression.getText(), labels);
  }
  return known;
}

/** What a property of an object literal is given; the name itself where it stands for its own value. */
function initializerOf(property: ts.ObjectLiteralElementLike, key: string): readonly ts.Expression[] {
  if (property.name?.getText() !== key) return [];
  if (ts.isPropertyAssignment(property)) return [property.initializer];
  return ts.isShorthandPropertyAssignment(property) ? [property.name] : [];
}

function codesIn(file: string): readonly Found[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  const name = relative(root, file);
  const found: Found[] = [];
  const add = (node: ts.Node, expression: ts.Expression | undefined) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    const codes = textsOf(expression, labelsAround(node));
    const isPassedOn = expression !== undefined && /^(error\.code|code)$/.test(expression.getText());
    if (codes.length === 0 && !isPassedOn) found.push({ code: '(not a literal)', place: `${name}:${line + 1}` });
    for (const code of codes) found.push({ code, place: `${name}:${line + 1}` });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
      const made = node.expression.getText();
      if (MAKERS.has(made) || (made === 'failed' && name === 'src/agent/stop.ts')) add(node, node.arguments?.[0]);
    }
    if (name.startsWith(LOOP) && ts.isObjectLiteralExpression(node)) {
      const given = (key: string) => node.properties.flatMap((p) => initializerOf(p, key))[0];
      const how = given('how');
      const reason = given('reason');
      if (how && ts.isStringLiteral(how) && how.text === 'failed' && reason) add(node, reason);
      const code = given('code');
      if (code && ts.isStringLiteral(code) && given('message')) add(node, code);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The codes of the catalogue: the first column of each of its tables. */
function catalogued(): readonly string[] {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8').split('## Reasons')[0] ?? '';
  return [...page.matchAll(/^\| `([a-z0-9_]+)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, code = '']) => code);
}

const found = sources().flatMap(codesIn);

test('every code of an error in the sources can be read off them', () => {
  expect(found.filter(({ code }) => code === '(not a literal)')).toEqual([]);
  expect(found.length).toBeGreaterThan(80);
});

test('the catalogue lists every error code of the sources', () => {
  const listed = new Set(catalogued());
  expect(found.filter(({ code }) => !listed.has(code))).toEqual([]);
});

test('the catalogue lists no code that the sources do not have, and none twice', () => {
  const codes = catalogued();
  const known = new Set(found.map(({ code }) => code));
  expect(codes.filter((code) => !known.has(code))).toEqual([]);
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
});
