import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { CommandIo } from './command.ts';
import { warn } from './workspace.ts';

test('warnings are broken between words at the edge of a terminal, and one line each elsewhere', () => {
  const written = (more: object) => {
    const stderr = Object.assign(new PassThrough(), more);
    const text = `A warning ${'with words '.repeat(20)}of its own.`;
    warn([{ room: 'host', code: 'odd', text }], { stderr, env: { NO_COLOR: '1' } } as unknown as CommandIo);
    return String(stderr.read()).trimEnd().split('\n');
  };
  for (const line of written({ isTTY: true, columns: 40 })) {
    expect(line.length).toBeLessThanOrEqual(40);
    expect(line).toMatch(/(^| )(warning:|A|with|words|of|own\.)$/);
  }
  expect(written({})).toHaveLength(1);
});
