import type { JsonObject } from '../../contracts/index.ts';
import { type Rule, report, sdk } from './rule.ts';
import { ask, MARK, text, user } from './samples.ts';
import { blocksIn, isObject, messagesOf, type Placed, placed, readOnce } from './shape.ts';

const MOST_MARKS = 4;
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };

/** All blocks that can carry a mark, in the order in which the cache reads them. */
function blocks(body: JsonObject): readonly Placed[] {
  return [
    ...placed('tools', body.tools),
    ...placed('system', body.system),
    ...messagesOf(body).flatMap((message) => [
      ...message.blocks.flatMap((at) => [at, ...placed(`${at.path}.content`, at.block.content)]),
    ]),
  ];
}

function marked(body: JsonObject): readonly Placed[] {
  return readOnce(body, 'cache marks', () => blocks(body).filter(({ block }) => isObject(block.cache_control)));
}

const ttlOf = ({ block }: Placed): unknown =>
  isObject(block.cache_control) ? (block.cache_control.ttl ?? '5m') : '5m';

export const CACHE_RULES: readonly Rule[] = [
  {
    id: 'cache-marks',
    refuses: 'with more than four cache breakpoints',
    source: report('the API words it "A maximum of 4 blocks with cache_control may be provided. Found 5."'),
    check(body) {
      const count = marked(body).length + (isObject(body.cache_control) ? 1 : 0);
      return count > MOST_MARKS
        ? [`A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${count}.`]
        : [];
    },
    breach: ask({ messages: [user([1, 2, 3, 4, 5].map((n) => text(`${n}`, MARK)))] }),
    keeps: ask({ messages: [user([1, 2, 3, 4].map((n) => text(`${n}`, MARK)))] }),
  },
  {
    id: 'cache-mark-shape',
    refuses: 'with a cache breakpoint that is not ephemeral, or lasts neither 5m nor 1h',
    source: sdk('BetaCacheControlEphemeral'),
    check: (body) =>
      marked(body)
        .filter(
          (at) =>
            !(isObject(at.block.cache_control) && at.block.cache_control.type === 'ephemeral') ||
            !['5m', '1h'].includes(String(ttlOf(at))),
        )
        .map(({ path }) => `${path}.cache_control: Input should have type 'ephemeral' and a ttl of '5m' or '1h'`),
    breach: ask({ system: [text('Be brief.', { cache_control: { type: 'forever' } })] }),
    keeps: ask({ system: [text('Be brief.', HOUR)] }),
  },
  {
    id: 'cache-order',
    refuses: 'with a breakpoint of one hour behind one of five minutes',
    source: report(
      "the API words it \"a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block\"",
    ),
    check(body) {
      const all = marked(body);
      const short = all.findIndex((at) => ttlOf(at) === '5m');
      const long = all.find((at, index) => short !== -1 && index > short && ttlOf(at) === '1h');
      return long === undefined
        ? []
        : [
            `${long.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control ` +
              'block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
          ];
    },
    breach: ask({ system: [text('Be brief.', MARK)], messages: [user([text('Hi', HOUR)])] }),
    keeps: ask({ system: [text('Be brief.', HOUR)], messages: [user([text('Hi', MARK)])] }),
  },
  {
    id: 'cache-not-thinking',
    refuses: 'with a thinking block that is a cache breakpoint',
    source: report('the API words it "thinking.cache_control: Extra inputs are not permitted"'),
    check: (body) =>
      blocksIn(body, 'thinking', 'redacted_thinking')
        .filter(({ block }) => block.cache_control !== undefined)
        .map(({ path, block }) => `${path}.${String(block.type)}.cache_control: Extra inputs are not permitted`),
    breach: thought(MARK),
    keeps: thought({}),
  },
];

function thought(more: JsonObject): JsonObject {
  return ask({
    messages: [
      user('Hi'),
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'AA==', ...more }, text('Hello.')] },
      user('And?'),
    ],
  });
}
