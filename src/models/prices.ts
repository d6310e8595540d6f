import type { Json } from '../contracts/index.ts';
import { isObject, numberOf } from './json-shape.ts';
import { modelFacts } from './model-facts.ts';
import { usageApart } from './usage-apart.ts';

const MILLION = 1_000_000;
const USD_PER_WEB_SEARCH = 0.01;

/**
 * What one reply cost at list price, with what was summed up or asked of an advisor for it.
 *
 * @param modelId the model that answered (`message.model` where a proxy or a fallback may have chosen)
 * @param usage the reply's `usage` in the Messages API's shape
 * @returns USD, 0 for the offline planner, `undefined` for a model whose price isn't known
 */
export function costOf(modelId: string, usage: Json): number | undefined {
  if (modelId === 'offline') return 0;
  const facts = modelFacts(modelId);
  if (facts === undefined) return undefined;
  if (!isObject(usage)) return 0;

  const input = numberOf(usage.input_tokens);
  const read = numberOf(usage.cache_read_input_tokens);
  const written = numberOf(usage.cache_creation_input_tokens);
  const split = isObject(usage.cache_creation) ? usage.cache_creation : {};
  const written1h = Math.min(written, numberOf(split.ephemeral_1h_input_tokens));
  const searches = isObject(usage.server_tool_use) ? numberOf(usage.server_tool_use.web_search_requests) : 0;

  const { longPrompt } = facts;
  const price = longPrompt && input + read + written > longPrompt.above ? longPrompt.price : facts.price;
  const tokens =
    input * price.input +
    numberOf(usage.output_tokens) * price.output +
    read * price.cacheRead +
    (written - written1h) * price.cacheWrite5m +
    written1h * price.cacheWrite1h;
  let total = tokens / MILLION + searches * USD_PER_WEB_SEARCH;
  for (const { model = modelId, usage: apart } of usageApart(usage)) {
    const { iterations: _, ...own } = apart;
    const cost = costOf(model, own);
    if (cost === undefined) return undefined;
    total += cost;
  }
  return total;
}
