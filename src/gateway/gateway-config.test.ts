import { expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { identifyBy, keyDigest, newAgentKey } from './agent-key.ts';
import { readGatewayConfig } from './gateway-config.ts';

const DIGEST = keyDigest('a key');
const read = (value: Json) => readGatewayConfig(value, 'gateway.json');

test('an agent has its keys, rules, content and limits; what is left out is nothing', () => {
  const { agents, host, port } = read({
    port: 9000,
    agents: {
      support: {
        keys: [DIGEST],
        allow: ['mcp__shop__get_*', { tool: 'mcp__shop__pay', when: { '/amount': { max: 5 } }, reason: 'Small.' }],
        deny: ['mcp__shop__get_secret'],
        content: ['shop'],
        limits: { callsPerMinute: 60 },
      },
      idle: {},
    },
  });
  expect([host, port]).toEqual(['127.0.0.1', 9000]);
  expect(agents.get('support')).toEqual({
    name: 'support',
    keys: [DIGEST],
    permissions: {
      allow: ['mcp__shop__get_*', { tool: 'mcp__shop__pay', when: { '/amount': { max: 5 } }, reason: 'Small.' }],
      deny: ['mcp__shop__get_secret'],
    },
    content: ['shop'],
    limits: { callsPerMinute: 60 },
  });
  expect(agents.get('idle')).toEqual({ name: 'idle', keys: [], permissions: {}, content: [], limits: {} });
});

test.each<[string, Json, string]>([
  ['a list', [], 'the file must be an object'],
  ['a member that nobody knows', { agnets: {} }, 'has no member "agnets"; is "agents" meant?'],
  ['a misspelt deny', { agents: { a: { dney: [] } } }, 'agents.a has no member "dney"; is "deny" meant?'],
  ['rules that are no list', { agents: { a: { deny: 'mcp__shop' } } }, 'agents.a.deny must be a list of rules'],
  ['a rule without a tool', { agents: { a: { ask: [{ when: {} }] } } }, 'agents.a.ask[0].tool must name tools'],
  ['a number as a rule', { agents: { a: { ask: [5] } } }, 'agents.a.ask[0] must be an object'],
  ['a key itself', { agents: { a: { keys: ['bridle_abc'] } } }, 'agents.a.keys takes digests of keys'],
  ['one key for two', { agents: { a: { keys: [DIGEST] }, b: { keys: [DIGEST] } } }, 'agents.b.keys has a key of a'],
  ['a name that is none', { agents: { '../a': {} } }, 'agents["../a"] is no name'],
  ['a limit of nothing', { agents: { a: { limits: { callsPerMinute: 0 } } } }, 'must be a whole number from 1 on'],
  ['a port that is none', { port: 70_000 }, 'port must be a number from 0 to 65535'],
  ['no host', { host: '' }, 'host must be an address'],
  ['operations at no port', { operations: { port: -1 } }, 'operations.port must be a number'],
  ['content that is neither', { agents: { a: { content: 'shop' } } }, 'must be a list of texts, or "all"'],
])('%s is refused with its place', (_, value, message) => {
  expect(() => read(value)).toThrow(
    expect.objectContaining({ code: 'config_gateway', message: expect.stringContaining(message) }),
  );
});

test('a key is known in either header, and by the whole of it alone', async () => {
  const { key, digest } = newAgentKey();
  const { agents } = read({ agents: { support: { keys: [digest] }, other: { keys: [DIGEST] } } });
  const identify = identifyBy(agents.values());
  const who = { agent: 'support', via: 'gateway' };
  expect(await identify(new Map([['authorization', `Bearer ${key}`]]))).toEqual(who);
  expect(await identify(new Map([['authorization', `bEARER   ${key} `]]))).toEqual(who);
  expect(await identify(new Map([['x-api-key', key]]))).toEqual(who);
  const wrong = [`Bearer ${key}x`, `Bearer ${key.slice(0, -1)}`, `Basic ${key}`, digest, `Bearer ${digest}`, ''];
  for (const authorization of wrong) expect(await identify(new Map([['authorization', authorization]]))).toBeNull();
  expect(await identify(new Map())).toBeNull();
});
