import type { Model } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import { anthropicCredential, anthropicEndpoint, anthropicModel } from './anthropic.ts';
import { newestClaude } from './model-facts.ts';
import { openaiModel, openaiTarget } from './openai/index.ts';

const FORMS = [
  'offline                     the built-in planner: no key, no network, no language model',
  'claude-… or anthropic:ID    a Claude model (ANTHROPIC_API_KEY)',
  'openai:ID                   a model at OPENAI_BASE_URL (OPENAI_API_KEY)',
  'openai:ID@URL               a model at an OpenAI-compatible server, e.g. openai:qwen3:8b@http://localhost:11434/v1',
];

const CLAUDE = /^(?:anthropic:(.+)|(claude-.+))$/;
const OPENAI = /^openai:(.+?)(?:@(https?:\/\/.+))?$/;

/**
 * The model that a person named on the command line or in a setting.
 *
 * @param spec `offline`, `claude-…`, `anthropic:ID`, `openai:ID` or `openai:ID@URL`
 * @throws BridleError `model_unknown` with the list of forms; `model_no_key` and `model_bad_url`, so that they are known
 *   before anything is started for the run
 */
export async function resolveModel(spec: string): Promise<Model> {
  const name = spec.trim();
  if (name === 'offline') {
    const { offlineModel } = await import('./offline/index.ts');
    return offlineModel();
  }
  const claude = CLAUDE.exec(name);
  const claudeId = claude?.[1] ?? claude?.[2];
  if (claudeId !== undefined) {
    anthropicCredential();
    anthropicEndpoint(claudeId, {});
    return anthropicModel(claudeId);
  }
  const openai = OPENAI.exec(name);
  if (openai?.[1] !== undefined) {
    const [, id, baseURL] = openai;
    if (baseURL === undefined) refuseBareAddress(id);
    const options = baseURL === undefined ? {} : { baseURL };
    openaiTarget(id, options);
    return openaiModel(id, options);
  }
  const meant = newestClaude(name);
  const advice = meant === undefined ? '' : ` Did you mean ${meant}?`;
  throw new BridleError('model_unknown', `There is no model ${JSON.stringify(spec)}.${advice}`, {
    hint: `Give one of:\n${FORMS.map((form) => `  ${form}`).join('\n')}`,
  });
}

/** The `Model.id` of what `resolveModel` takes, without asking for its key or address. */
export function modelIdOf(spec: string): string {
  const name = spec.trim();
  const claude = CLAUDE.exec(name);
  const openai = OPENAI.exec(name);
  return claude?.[1] ?? claude?.[2] ?? (openai ? `openai:${openai[1]}` : name);
}

/** A host after the @, without its scheme. Other text there belongs to the model's name: `org/model@20250101`. */
const ADDRESS =
  /^(?:[^@]*:\/\/|localhost\b|(?:[\w-]+\.)*[\w-]+:\d+(?:\/|$)|\d+(?:\.\d+){3}|(?:[\w-]+\.)+[a-z]{2,}(?:\/|$))/i;

function refuseBareAddress(id: string): void {
  const at = id.lastIndexOf('@');
  const after = id.slice(at + 1);
  if (at < 1 || !ADDRESS.test(after)) return;
  throw new BridleError('model_bad_url', `What follows @ is no address of a model: ${JSON.stringify(after)}.`, {
    hint: 'Write it whole, with http:// or https://, as in openai:qwen3:8b@http://localhost:11434/v1.',
  });
}
