import { describe, expect, test } from 'vitest';
import { readBridleFile } from './bridle-json.ts';
import { parseConfig } from './config-file.ts';
import { mergeViews, viewLines } from './read-views.ts';

const read = (views: unknown) => {
  const text = typeof views === 'string' ? views : JSON.stringify({ views });
  return readBridleFile(parseConfig('bridle.json', text), 'project');
};
const FETCH = { server: 'web', tool: 'fetch' };

describe('views of a bridle.json', () => {
  test('are read with their place', () => {
    const { views, warnings } = read({ load: { ...FETCH, arguments: { url: { hosts: ['docs.example.com'] } } } });
    expect(warnings).toEqual([]);
    expect(views).toMatchObject([{ name: 'load', server: 'web', tool: 'fetch', source: { file: 'bridle.json' } }]);
  });

  test.each([
    { load: { ...FETCH, arguments: { url: { host: ['a.test'] } } } },
    { load: { ...FETCH, limits: {} } },
    '{"views": {"load": {"server": "web", "tool": "fetch", "arguments": {"url": {"enum": ["a"], "enum": ["b"]}}}}}',
    '{"views": {"load": {"server": "web", "tool": "fetch"}, "load": {"server": "web", "tool": "fetch"}}}',
  ])('that are not understood warn, and go on hiding the tool: %j', (views) => {
    const found = read(views);
    expect(found.warnings.map(({ code }) => code)).toContain('view_invalid');
    expect(found.views.at(-1)).toMatchObject({ tool: 'fetch', problem: expect.any(String) });
  });

  test.each([[], 'x', { load: {} }, { load: 'fetch' }, { load: { tool: 'fetch' } }])(
    'that name no tool of a server stop everything: %j',
    (views) => {
      const text = JSON.stringify({ views });
      expect(() => read(text)).toThrow(expect.objectContaining({ code: 'config_views_unreadable' }));
    },
  );

  test.each([
    '{"views": {"load": {"server": "web", "tool": "fetch"}}, "views": {}}',
    '{"views": [], "views": {}}',
    '{"views": {"load": {"server": "web", "tool": "fetch", "tool": "post"}}}',
    '{"views": {"load": {"server": "web", "server": "none", "tool": "fetch"}}}',
  ])(
    'that stand twice, or say twice what they narrow, stop everything, as one of the two would hide nothing: %s',
    (text) => {
      const code = 'config_views_unreadable';
      expect(() => read(text)).toThrow(expect.objectContaining({ code, message: expect.stringContaining('twice') }));
    },
  );

  test.each(['view', 'Views', 'veiws'])(
    'under a key such as "%s", which would hide nothing, stop everything',
    (key) => {
      const text = JSON.stringify({ [key]: { load: FETCH } });
      expect(() => read(text)).toThrow(expect.objectContaining({ message: expect.stringContaining('mean "views"?') }));
    },
  );

  test('of a lower layer do not count beside those of a higher one over the same tool, or of the same name', () => {
    const own = read({ load: FETCH }).views;
    const project = read({
      all: { ...FETCH, keep: true },
      load: { server: 'web', tool: 'post' },
      other: { server: 'x', tool: 'fetch' },
    }).views;
    const { views, warnings } = mergeViews([[], own, [], project]);
    expect(views.map(({ name }) => name)).toEqual(['load', 'other']);
    expect(warnings.map(({ code }) => code)).toEqual(['view_already_narrowed', 'view_already_narrowed']);
  });

  test('are shown whole to whoever is to trust them', () => {
    const [view] = read({
      load: { ...FETCH, description: 'One.\nTwo.', arguments: { follow: { fixed: false } } },
    }).views;
    expect(view && viewLines(view).join('\n')).toBe(
      'in place of the tool fetch of web, the model is shown load:\n  follow: always false\n  | One.\n  | Two.',
    );
  });
});
