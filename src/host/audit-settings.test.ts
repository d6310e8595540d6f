import { expect, test } from 'vitest';
import { type AuditWords, mergedAudit } from './audit-settings.ts';
import { readBridleFile } from './bridle-json.ts';
import { AUDIT_KEYS } from './bridle-keys.ts';
import { parseConfig } from './config-file.ts';

const read = (audit: string, owner: 'user' | 'project' = 'user') =>
  readBridleFile(parseConfig('/p/bridle.json', `{"audit": ${audit}}`), owner);

const words = (audit: string, owner: 'user' | 'project' = 'user') => read(audit, owner).audit as AuditWords;

test('the audit is on, and the user may turn it off, a project may not', () => {
  expect(mergedAudit(undefined, [])).toEqual({ enabled: true, redact: [], arguments: 'redacted' });
  const off = words('{"enabled": false}');
  expect(mergedAudit(undefined, [off]).enabled).toBe(false);
  const managed = words('{"enabled": true}');
  expect(mergedAudit(managed, [managed, off]).enabled).toBe(true);
  const project = read('{"enabled": false}', 'project');
  expect([project.audit?.enabled, project.warnings.map(({ code }) => code)]).toEqual([true, ['audit_off_in_project']]);
});

test('what the files take out adds up, and either keeps arguments out', () => {
  const user = words('{"redact": ["card", "/a/*/b"]}');
  const project = words('{"redact": ["card", "email"], "arguments": "digest"}', 'project');
  expect(mergedAudit(undefined, [user, project])).toEqual({
    enabled: true,
    redact: ['card', '/a/*/b', 'email'],
    arguments: 'digest',
  });
});

test('what is odd is warned about, and read as what keeps more secret', () => {
  const odd = read('{"enabled": "no", "redact": ["a", 5], "arguments": "all", "redactt": []}');
  expect(odd.audit).toEqual({ enabled: true, redact: ['a'], arguments: 'digest' });
  expect(odd.warnings).toHaveLength(4);
  expect(read('{"redact": "card"}').audit?.redact).toEqual(['card']);
  expect(read('[]').audit).toBeUndefined();
  expect(AUDIT_KEYS).toEqual(['enabled', 'redact', 'arguments']);
});
