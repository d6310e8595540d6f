import { describe, expect, test } from 'vitest';
import type { Json } from '../../contracts/index.ts';
import { readAnswer } from './conversation.ts';
import { readGoals } from './goals.ts';
import { pastTense, reportOn } from './report.ts';
import { readCards } from './tool-card.ts';

function report(request: string, name: string, content: Json, { input = {}, isError = false } = {}) {
  const [goal, ...showing] = readGoals(request, () => false);
  const [card] = readCards([{ name, description: '', input_schema: { type: 'object' } }]);
  if (!goal || !card) throw new Error('Nothing to report.');
  const answer = readAnswer({ type: 'tool_result', tool_use_id: 't', content, is_error: isError });
  return reportOn([{ goal, card, call: { id: 't', name, input, answer }, showing }]);
}

const book = 'one\ntwo\nthree\n';

describe('reportOn', () => {
  test.each([
    ['Read a.txt and quote its first line', 'The first line is: “one”'],
    ['Read a.txt and show me the last 2 lines', 'The last 2 lines are:\n> two\n> three'],
    ['Read a.txt and tell me how many lines it has', 'It has 3 lines.'],
    ['Read a.txt', 'one\ntwo\nthree'],
  ])('%s', (request, expected) => {
    expect(report(request, 'read_file', book)).toBe(expected);
  });

  test('puts what was asked for first', () => {
    const order = '{"order_id": "O-1", "placed": "May", "status": "sent"}';
    expect(report('Where is order O-1?', 'get_order', order, { input: { order_id: 'O-1' } })).toBe(
      'Order O-1: status: sent; placed: May.',
    );
  });

  test('says yes only where the result says the same word', () => {
    const input = { id: 'T-1' };
    expect(report('Is T-1 open?', 'get_ticket', '{"id": "T-1", "status": "open"}', { input })).toMatch(/^Yes\./);
    expect(report('Is T-1 open?', 'get_ticket', '{"id": "T-1", "status": "waiting"}', { input })).not.toMatch(
      /yes|no/i,
    );
  });

  test('says that an empty answer is empty', () => {
    expect(report('List notes', 'list_notes', '[]')).toBe('Nothing was found: the answer is empty.');
    expect(report('Delete note 3', 'delete_note', '')).toBe('Done. The tool had nothing to report.');
  });

  test('shows how much of a long text it left out, and claims no summary', () => {
    expect(report('Read a.txt', 'read_file', 'x'.repeat(5000))).toContain('… (1000 more characters)');
    expect(report('Read a.txt and summarize it', 'read_file', book)).toMatch(/^I can’t summarize/);
  });

  test('tells an error in its own words, whatever its form', () => {
    expect(report('Delete note 3', 'delete_note', 'No such note.', { isError: true })).toBe(
      'I could not do this (“Delete note 3”): No such note.',
    );
    expect(report('Delete note 3', 'delete_note', '', { isError: true })).toContain('no reason was given');
    const wire = '{"errorCategory": "business", "description": "Too late.", "alternatives": ["ask support"]}';
    expect(report('Delete note 3', 'delete_note', wire, { isError: true })).toContain(
      'What you could do instead: ask support',
    );
  });

  test('names what it can’t show', () => {
    expect(report('Get the image', 'get_image', [{ type: 'image', source: {} }])).toContain(
      'image, which I can’t show as text',
    );
  });
});

test.each([
  ['refund', 'refunded'],
  ['create', 'created'],
  ['copy', 'copied'],
  ['send', 'sent'],
  ['pay', 'paid'],
])('the past of %s is %s', (verb, past) => {
  expect(pastTense(verb)).toBe(past);
});
