import type { Model } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import { anthropicCredential, anthropicModel } from './anthropic.ts';
import { openaiModel } from './openai/index.ts';

const FORMS = [
  'offline                     the built-in planner: no key, no network, no language model',
  'claude-… or anthropic:ID    a Claude model (ANTHROPIC_API_KEY)',
  'openai:ID                   a model at OPENAI_BASE_URL (OPENAI_API_KEY)',
  'openai:ID@URL               a model at an OpenAI-compatible server, e.g. openai:qwen3:8b@http://localhost:11434/v1',
];

/**
 * The model that a person named on the command line or in a setting.
 *
 * @param spec `offline`, `claude-…`, `anthropic:ID`, `openai:ID` or `openai:ID@URL`
 * @throws BridleError `model_unknown` with the list of forms; `model_no_key` for a Claude model without a key, so that
 *   it is known before anything is started for the run
 */
export async function resolveModel(spec: string): Promise<Model> {
  const name = spec.trim();
  if (name === 'offline') {
    const { offlineModel } = await import('./offline/index.ts');
    return offlineModel();
  }
  const claude = /^(?:anthropic:(.+)|(claude-.+))$/.exec(name);
  const claudeId = claude?.[1] ?? claude?.[2];
  if (claudeId !== undefined) {
    anthropicCredential();
    return anthropicModel(claudeId);
  }
  const openai = /^openai:(.+?)(?:@(https?:\/\/.+))?$/.exec(name);
  if (openai?.[1] !== undefined) return openaiModel(openai[1], openai[2] === undefined ? {} : { baseURL: openai[2] });
  throw new BridleError('model_unknown', `There is no model ${JSON.stringify(spec)}.`, {
    hint: `Give one of:\n${FORMS.map((form) => `  ${form}`).join('\n')}`,
  });
}
