import { pointerSegment } from './json-object.ts';
import type { SchemaIssue } from './schema-issues.ts';
import type { StandardIssue } from './standard-schema.ts';

/** A Standard Schema's issues in the form of our own check. */
export function standardIssues(issues: readonly StandardIssue[]): readonly SchemaIssue[] {
  return issues.map(({ message, path = [] }) => ({
    path: path.map((part) => `/${pointerSegment(String(typeof part === 'object' ? part.key : part))}`).join(''),
    message,
  }));
}
